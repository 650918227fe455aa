// Scripts of the guides: language tabs, copy buttons, search as you type, and the theme.
const WAY = 'gt-language-of-guides'
const THEME = 'gt-theme'
const COPIED_MS = 2_000
const TYPING_MS = 150
const root = document.documentElement

// Theme.
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

// One tab per language; the selection applies to all pages.
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
  scrollBy(0, tab.getBoundingClientRect().top - before) // Keeps the selected tab at its position on the screen.
}
show(localStorage.getItem(WAY) ?? 'curl')

// Language label and copy button of each block.
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
    copy.textContent = isCopied ? 'Copied' : 'Copying failed'
    setTimeout(() => (copy.textContent = 'Copy'), COPIED_MS)
  })
  const bar = document.createElement('div')
  bar.className = 'bar'
  const language = document.createElement('span')
  language.textContent = NAMES[block.querySelector('pre').dataset.language] ?? ''
  bar.append(language, copy)
  block.prepend(bar)
}

// Search as you type.
const input = document.getElementById('find')
const results = document.getElementById('results')
let timer = 0
let lastSearch = 0
input.addEventListener('input', () => {
  clearTimeout(timer)
  timer = setTimeout(search, TYPING_MS)
})
input.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') results.hidden = true
  if (event.key === 'ArrowDown') {
    event.preventDefault()
    results.querySelector('a')?.focus()
  }
})
addEventListener('keydown', (event) => {
  if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(document.activeElement?.tagName ?? '')) return
  event.preventDefault()
  input.focus()
})

async function search() {
  const query = input.value.trim()
  const current = ++lastSearch
  if (query === '') return void (results.hidden = true)
  const response = await fetch(`/docs/guides/search.json?q=${encodeURIComponent(query)}`).catch(() => null)
  if (!response?.ok || current !== lastSearch) return
  const { sections } = await response.json()
  if (current !== lastSearch || results.contains(document.activeElement)) return // Whoever has chosen a result keeps it.
  results.hidden = false
  if (sections.length === 0) return void (results.textContent = 'No results. Try fewer words.')
  const list = document.createElement('ul')
  for (const { guide, heading, href, excerpt } of sections.slice(0, 8)) {
    const [entry, link, text] = [document.createElement('li'), document.createElement('a'), document.createElement('p')]
    link.href = href
    link.textContent = guide === heading ? guide : `${guide}: ${heading}`
    text.textContent = excerpt
    entry.append(link, text)
    list.append(entry)
  }
  results.replaceChildren(list)
}

// On a phone, the list of guides is collapsed.
const menu = document.querySelector('.menu')
if (matchMedia('(max-width: 900px)').matches) menu.open = false
