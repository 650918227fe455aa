/**
 * A page for somebody without a mouse. Journeys are written once: on this page every press, tick, choice and typed word goes by
 * Tab, arrows, Enter, Space and letters, and what cannot be reached that way, or does not show that it has the focus, fails.
 */
import assert from 'node:assert/strict'
import type { ElementHandle, Locator, Page } from 'playwright-core'

/** More than any screen has between two things that somebody does one after the other. */
const MAX_KEYS = 400
/** From there on a text is pasted, as a person would. */
const MAX_TYPED = 120
/** How often something may be drawn anew while it is waited for. */
const MAX_LOOKS = 5
const CHOOSER_MS = 15_000
/** How often the way may turn before what is looked for counts as out of reach. */
const MAX_TURNS = 4

type Step = 'here' | 'next' | 'back' | 'arrow' | 'arrow-back' | 'gone'

/** A function for the page, whose types these files do not have. */
// oxlint-disable-next-line no-new-func -- It is never called here: its text is.
const inPage = <T>(source: string) => new Function('element', `return (${source})(element)`) as (element: unknown) => T

/** Where the focus is, seen from an element: on it, in its group of arrows, before it or behind it. */
const WHERE = inPage<Step>(`(element) => {
  const FOCUSABLE = 'a[href],button,input,select,textarea,summary,[tabindex]'
  const GROUP = '[role=tablist],[role=radiogroup],[role=menu],[role=listbox],[role=tree]'
  const labelled = element.closest('label')?.control
  const own = element.matches(FOCUSABLE) ? element : labelled ?? element.closest(FOCUSABLE)
  const target = element.closest('option')?.closest('select') ?? own
  if (!target || !target.isConnected) return 'gone'
  const active = document.activeElement
  if (active === target || (target.id && active?.getAttribute('aria-activedescendant') === target.id)) return 'here'
  const isBehind = (node, other) => (node.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING) !== 0
  const arrow = (from) => (isBehind(from, target) ? 'arrow-back' : 'arrow')
  if (target.type === 'radio' && active?.type === 'radio' && active.name === target.name) return arrow(active)
  const group = target.closest(GROUP)
  const roves = group && (target.tabIndex < 0 || target.getAttribute('role') === 'menuitem')
  const chosen = active?.getAttribute('aria-activedescendant') && document.getElementById(active.getAttribute('aria-activedescendant'))
  if (group && chosen && group.contains(chosen)) return arrow(chosen)
  if (roves && group.contains(active)) return active === group ? 'arrow' : arrow(active)
  if (roves && group.id && active?.getAttribute('aria-controls') === group.id) return 'arrow'
  if (!active || active === document.body) return 'next'
  return isBehind(active, (roves && group.querySelector('[tabindex="0"]')) || target) ? 'back' : 'next'
}`)

/** Whether somebody who looks sees where they are: an outline or a ring on what has the focus, or on what stands for it. */
const SHOWN = `() => {
  const active = document.activeElement
  const outlined = (node) => {
    if (!node) return false
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(node)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1 && outlineColor !== 'rgba(0, 0, 0, 0)'
  }
  const ringed = (node) => node && getComputedStyle(node).boxShadow !== 'none'
  const marked = document.getElementById(active.getAttribute('aria-activedescendant') ?? '')
  const box = (marked ?? active).getBoundingClientRect()
  const style = active.outerHTML.slice(0, 160)
  if (box.bottom < 0 || box.top > innerHeight) return 'outside of the window: ' + style
  const around = [active.parentElement, active.nextElementSibling, active.closest('label')]
  const stands = [active, ...around, active.querySelector('rect:last-of-type')]
  const inner = active.matches('g,svg') ? [...active.querySelectorAll('*')] : []
  if (marked || stands.some(outlined) || ringed(active) || ringed(active.closest('.field-input')) || inner.some(outlined)) return ''
  if (active.matches('g') && active.matches(':focus-visible')) return ''
  return 'no visible focus: ' + style
}`

const ARROWS: Readonly<Record<'arrow' | 'arrow-back', readonly [string, string]>> = {
  arrow: ['ArrowDown', 'ArrowRight'],
  'arrow-back': ['ArrowUp', 'ArrowLeft'],
}

async function elementOf(locator: Locator): Promise<ElementHandle> {
  return (await locator.elementHandle())!
}

/** Goes to an element as somebody without a mouse does. */
async function reach(page: Page, locator: Locator): Promise<void> {
  await locator.waitFor({ state: 'attached' })
  // What waits to be enabled may be drawn anew meanwhile: it is looked for again.
  for (let looks = 0; looks < MAX_LOOKS; looks++)
    try {
      await (await elementOf(locator)).waitForElementState('enabled')
      break
    } catch (error) {
      if (looks === MAX_LOOKS - 1 || !/not attached/.test(String(error))) throw error
    }
  let turns = 0
  let last: Step = 'next'
  let element = await elementOf(locator)
  for (let keys = 0; keys < MAX_KEYS && turns <= MAX_TURNS; keys++) {
    let where = await element.evaluate(WHERE).catch((): Step => 'gone')
    // In a long list, looking for it takes much longer than a key. It is looked for again once it is gone, and at the end of the way,
    // when something else may be meant.
    if (where === 'gone' || where === 'here') {
      element = await elementOf(locator)
      where = await element.evaluate(WHERE)
    }
    if (where === 'here') {
      assert.equal(await page.evaluate<string>(`(${SHOWN})()`), '')
      return
    }
    if ((where === 'next' && last === 'back') || (where === 'back' && last === 'next')) turns++
    last = where
    if (where === 'arrow' || where === 'arrow-back') await page.keyboard.press(await arrowOf(element, where))
    else await page.keyboard.press(where === 'back' ? 'Shift+Tab' : 'Tab')
  }
  assert.fail(`cannot be reached by keys: ${await locator.evaluate(inPage<string>('(node) => node.outerHTML.slice(0, 200)'))}`)
}

/** Tabs lie side by side; everything else stands one above the other. */
async function arrowOf(element: ElementHandle, step: 'arrow' | 'arrow-back'): Promise<string> {
  const lies = await element.evaluate(
    inPage<boolean>(`(node) => {
      const group = node.closest('[role=tablist]')
      return group !== null && group.getAttribute('aria-orientation') !== 'vertical'
    }`),
  )
  return ARROWS[step][lies ? 1 : 0]
}

async function press(page: Page, locator: Locator): Promise<void> {
  await reach(page, locator)
  const ticks = await page.evaluate<boolean>(`document.activeElement.matches('input[type=checkbox], input[type=radio]')`)
  const types = await page.evaluate<boolean>(`document.activeElement.matches('input:not([type=checkbox], [type=radio]), textarea, select')`)
  if (!types) await page.keyboard.press(ticks ? 'Space' : 'Enter')
}

async function tick(page: Page, locator: Locator, on: boolean): Promise<void> {
  await reach(page, locator)
  if ((await locator.isChecked()) !== on) await page.keyboard.press('Space')
  assert.equal(await locator.isChecked(), on)
}

async function write(page: Page, locator: Locator, text: string): Promise<void> {
  await reach(page, locator)
  if ((await locator.getAttribute('type')) === 'date') return await writeDate(page, locator, text)
  await page.keyboard.press('Control+A')
  if (text === '') await page.keyboard.press('Delete')
  else if (text.length > MAX_TYPED) await page.keyboard.insertText(text)
  else await page.keyboard.type(text)
  assert.equal(await locator.inputValue(), text, 'what was typed is in the field')
}

/** The browser's own field: month, day, year, each with its arrows and digits. */
async function writeDate(page: Page, locator: Locator, text: string): Promise<void> {
  const [year = '', month = '', day = ''] = text.split('-')
  for (let part = 0; part < 4; part++) await page.keyboard.press('ArrowLeft')
  await page.keyboard.type(`${month}${day}${year}`)
  assert.equal(await locator.inputValue(), text, 'what was typed is in the field')
}

type Wanted = string | { label?: string; value?: string; index?: number }

/** By arrows, one entry after the other. */
async function select(page: Page, locator: Locator, wanted: Wanted): Promise<string[]> {
  await reach(page, locator)
  const is = typeof wanted === 'string' ? { value: wanted, label: wanted } : wanted
  const find = inPage<[number, number, string]>(`(node) => {
    const is = ${JSON.stringify(is)}
    const open = [...node.options].filter((option) => !option.disabled)
    const at = open.findIndex((option, index) => option.value === is.value || option.label === is.label || index === is.index)
    return [at, open.indexOf(node.selectedOptions[0]), open[at]?.value ?? '']
  }`)
  for (let keys = 0; keys < MAX_KEYS; keys++) {
    const [at, now, value] = await locator.evaluate(find)
    if (at === now && at >= 0) return [value]
    // Entries may still be on their way: a list that has not what is wanted is read again.
    if (at >= 0) await page.keyboard.press(at > now ? 'ArrowDown' : 'ArrowUp')
    else await page.evaluate('new Promise(requestAnimationFrame)')
  }
  return assert.fail(`no such entry: ${JSON.stringify(wanted)}`)
}

/** The dialog of the system is opened by a key; what it then does is not the page's. */
async function chooseFiles(page: Page, locator: Locator, files: Parameters<Locator['setInputFiles']>[0]): Promise<void> {
  // What is drawn anew between the way there and the key has lost the focus: a person goes there again.
  for (let looks = 1; ; looks++) {
    await reach(page, locator)
    const opened = page.waitForEvent('filechooser', { timeout: CHOOSER_MS }).catch((error: unknown) => {
      if (looks === MAX_LOOKS) throw error
      return null
    })
    await page.keyboard.press('Space')
    const chooser = await opened
    if (chooser) return await chooser.setFiles(files)
  }
}

const BY_KEYS: Readonly<Record<string, (page: Page, locator: Locator, ...given: never[]) => Promise<unknown>>> = {
  click: press,
  focus: reach,
  fill: write,
  check: (page, locator) => tick(page, locator, true),
  uncheck: (page, locator) => tick(page, locator, false),
  selectOption: select,
  setInputFiles: chooseFiles,
  blur: (page) => page.keyboard.press('Tab'),
  press: async (page, locator, key) => {
    await reach(page, locator)
    await page.keyboard.press(key)
  },
}
const BY_MOUSE = new Set(['hover', 'dblclick', 'tap', 'dragTo', 'mouse', 'touchscreen'])

const isLocator = (value: unknown): value is Locator => typeof value === 'object' && value !== null && '_selector' in value

/** The same page, or a part of it, in the hands of somebody who has keys alone. */
function inKeys<T extends Page | Locator>(page: Page, part: T): T {
  return new Proxy(part, {
    get(target, name) {
      if (BY_MOUSE.has(String(name))) assert.fail(`'${String(name)}' takes a mouse`)
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const own = isLocator(target) ? BY_KEYS[String(name)] : undefined
      return (...given: never[]) => {
        const answer: unknown = own ? own(page, target as Locator, ...given) : value.apply(target, given)
        return isLocator(answer) ? inKeys(page, answer) : answer
      }
    },
  })
}

export const keyboardPage = (page: Page): Page => inKeys(page, page)
