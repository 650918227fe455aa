/** Two images at once, with a divider between them: two styles of one item, or two items of a collection. */
import type { SharedStyle, SharedItem } from './share-api.ts'
import { element, make } from './share-panel.ts'

/** The same item in another style, or another item in its own. */
export type Other = { style: string } | { item: string }

export const asText = (other: Other): string => ('style' in other ? `style:${other.style}` : `item:${other.item}`)

export function fromText(text: string): Other | null {
  const [kind, ...rest] = text.split(':')
  const id = rest.join(':')
  if (id === '') return null
  return kind === 'style' || kind === 'look' ? { style: id } : kind === 'item' ? { item: id } : null
}

const START_PERCENT = 50

export function createCompare(onOther: (other: Other | null) => void) {
  const select = element<HTMLSelectElement>('compare')
  const divider = element<HTMLInputElement>('divider')
  const frame = element('frame')
  select.addEventListener('change', () => onOther(fromText(select.value)))
  divider.addEventListener('input', () => place())
  const place = () => document.documentElement.style.setProperty('--divider', String(Number(divider.value) / 100))

  return {
    /** What the image that is shown can be compared with. */
    offer(shown: { item: SharedItem; style: string | null }, items: readonly SharedItem[], chosen: Other | null): void {
      const others = items.filter(({ id, tilejson }) => id !== shown.item.id && tilejson !== null)
      const styles = shown.item.visualizations.filter(({ id }) => id !== shown.style)
      select.replaceChildren(
        make('option', 'Nothing', { value: '' }),
        ...group(
          'Another image',
          others.map(({ id, name }) => make('option', name, { value: asText({ item: id }) })),
        ),
        ...group(
          'Another style',
          styles.map(({ id, label }: SharedStyle) => make('option', label, { value: asText({ style: id }) })),
        ),
      )
      select.value = chosen ? asText(chosen) : ''
      element('comparing').hidden = others.length + styles.length === 0 || shown.item.tilejson === null
    },
    /** Names of the left and the right image; null takes the divider away. */
    show(names: readonly [string, string] | null): void {
      if (names && frame.hidden) divider.value = String(START_PERCENT)
      frame.hidden = names === null
      element('left-name').textContent = names?.[0] ?? ''
      element('right-name').textContent = names?.[1] ?? ''
      if (!names) select.value = ''
      place()
    },
    /** Whether a place on the screen is right of the divider. */
    isRight: (x: number): boolean => !frame.hidden && x > element('line').getBoundingClientRect().left,
  }
}

function group(label: string, options: HTMLOptionElement[]): HTMLElement[] {
  return options.length > 0 ? [make('optgroup', options, { label })] : []
}
