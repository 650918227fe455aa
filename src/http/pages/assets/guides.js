// What a guide does by itself: tabs for the languages, copy buttons, search while typing, and light or dark.
const WAY = 'gt-language-of-guides'
const THEME = 'gt-theme'
const COPIED_MS = 2_000
const TYPING_MS = 150
const root = document.documentElement

// Light or dark.
const themeOf = () => root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')
const theme = document.createElement('button')
theme.type = 'button'
theme.className = 'theme'
const nameTheme = () => {
  theme.textContent = themeOf() === 'dark' ? 'Light theme' : 'Dark theme'
}
theme.addEventListener('click', () => {
  root.dataset.theme = themeOf() === 'dark' ? 'light' : 'dark'
  localStorage.setItem(THEME, root.dataset.theme)
  nameTheme()
})
nameTheme()
document.querySelector('.top').append(theme)

// One tab for each language; the choice holds for the whole page, and for the next.
const groups = [...document.querySelectorAll('.ways')].map((group, index) => {
  const panels = [...group.querySelectorAll(':scope > section')]
  const list = document.createElement('div')
  list.setAttribute('role', 'tablist')
  list.setAttribute('aria-label', 'Language')
  const tabs = panels.map((panel) => {
    const way = panel.dataset.way
    const tab = document.createElement('button')
    tab.type = 'button'
    tab.textContent = way
    tab.id = `tab-${index}-${way.replace(' ', '-')}`
    tab.setAttribute('role', 'tab')
    panel.id = `panel-${index}-${way.replace(' ', '-')}`
    panel.setAttribute('role', 'tabpanel')
    panel.removeAttribute('aria-label')
    panel.setAttribute('aria-labelledby', tab.id)
    tab.setAttribute('aria-controls', panel.id)
    tab.addEventListener('click', () => choose(way, tab))
    return tab
  })
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!step) return
    event.preventDefault()
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length]
    next.focus()
    next.click()
  })
  list.append(...tabs)
  group.prepend(list)
  group.classList.add('tabbed')
  return { panels, tabs }
})

function show(way) {
  for (const { panels, tabs } of groups) {
    const at = Math.max(
      0,
      panels.findIndex((panel) => panel.dataset.way === way),
    )
    for (const [index, panel] of panels.entries()) {
      panel.hidden = index !== at
      tabs[index].setAttribute('aria-selected', String(index === at))
      tabs[index].tabIndex = index === at ? 0 : -1
    }
  }
}

function choose(way, tab) {
  const before = tab.getBoundingClientRect().top
  localStorage.setItem(WAY, way)
  show(way)
  scrollBy(0, tab.getBoundingClientRect().top - before) // What was pressed stays where it is.
}
show(localStorage.getItem(WAY) ?? 'curl')

// What it is, and a button that copies it.
const NAMES = {
  sh: 'Shell',
  bash: 'Shell',
  console: 'Terminal',
  ts: 'TypeScript',
  js: 'JavaScript',
  python: 'Python',
  json: 'JSON',
  go: 'Go',
  xml: 'XML',
}
for (const block of document.querySelectorAll('.code')) {
  const copy = document.createElement('button')
  copy.type = 'button'
  copy.className = 'copy'
  copy.textContent = 'Copy'
  copy.addEventListener('click', async () => {
    const text = block.querySelector('pre').textContent
    const isCopied = await navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
    copy.textContent = isCopied ? 'Copied' : 'Select and copy it yourself'
    setTimeout(() => (copy.textContent = 'Copy'), COPIED_MS)
  })
  const bar = document.createElement('div')
  bar.className = 'bar'
  const language = document.createElement('span')
  language.textContent = NAMES[block.querySelector('pre').dataset.language] ?? ''
  bar.append(language, copy)
  block.prepend(bar)
}

// Search while typing.
const input = document.getElementById('find')
const found = document.getElementById('found')
let timer = 0
let asked = 0
input.addEventListener('input', () => {
  clearTimeout(timer)
  timer = setTimeout(search, TYPING_MS)
})
input.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') found.hidden = true
  if (event.key === 'ArrowDown') {
    event.preventDefault()
    found.querySelector('a')?.focus()
  }
})
addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')) return
  event.preventDefault()
  input.focus()
})

async function search() {
  const query = input.value.trim()
  const turn = ++asked
  if (query === '') return void (found.hidden = true)
  const answer = await fetch(`/docs/guides/search.json?q=${encodeURIComponent(query)}`).catch(() => null)
  if (!answer?.ok || turn !== asked) return
  const { found: sections } = await answer.json()
  found.hidden = false
  if (sections.length === 0) return void (found.textContent = 'No guide has all of these words.')
  const list = document.createElement('ul')
  for (const { guide, heading, href, excerpt } of sections.slice(0, 8)) {
    const [entry, link, text] = [document.createElement('li'), document.createElement('a'), document.createElement('p')]
    link.href = href
    link.textContent = guide === heading ? guide : `${guide}: ${heading}`
    text.textContent = excerpt
    entry.append(link, text)
    list.append(entry)
  }
  found.replaceChildren(list)
}

// On a phone the list of guides is folded.
const menu = document.querySelector('.menu')
if (matchMedia('(max-width: 900px)').matches) menu.open = false
