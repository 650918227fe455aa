/** The card over the map: what the colours mean, and the values where the pointer rests. */
import type { Legend, ValueAt } from './share-api.ts'
import { element, make } from './share-panel.ts'

interface Explained {
  label: string
  legend: Legend | null
}

const CHANNELS = ['Red', 'Green', 'Blue']

/** One for the image, and one more while two are compared. */
export function showLegend(styles: readonly Explained[]): void {
  const entries = styles.flatMap(({ label, legend }) => (legend ? [entryOf(label, legend)] : []))
  element('legend').hidden = entries.length === 0
  element('legend-list').replaceChildren(...entries)
  showValues(null)
}

function entryOf(label: string, legend: Legend): HTMLElement {
  const name = make('p', label, { class: 'name' })
  if (legend.kind === 'composite') {
    const isPlain = legend.channels.every((channel, index) => channel.toLowerCase() === CHANNELS[index]!.toLowerCase())
    const channels = legend.channels.map((channel, index) => `${CHANNELS[index]}: ${channel}`).join(' · ')
    return make('div', [name, make('p', isPlain ? 'As the eye sees it' : channels, { class: 'soft' })], { class: 'composite' })
  }
  const bar = make('div', [], { class: 'bar', role: 'img', 'aria-label': `Colours from ${format(legend.low)} to ${format(legend.high)}` })
  bar.style.background = `linear-gradient(to right, ${legend.colors.join(', ')})`
  const ends = make('p', [make('span', format(legend.low)), make('span', legend.unit ?? ''), make('span', format(legend.high))], {
    class: 'ends',
  })
  return make('div', [name, bar, ends])
}

/** Null where there is nothing to tell: then how to be told. */
export function showValues(shown: { values: readonly ValueAt[] | null; place: string; unit: string | null } | null): void {
  const isTouch = matchMedia('(pointer: coarse)').matches
  const hint = isTouch ? 'Touch the image for its values' : 'Point at the image for its values'
  element('values').textContent = shown ? `${textOf(shown.values, shown.unit)} at ${shown.place}` : hint
}

function textOf(values: readonly ValueAt[] | null, unit: string | null): string {
  if (!values) return 'No image'
  if (values.every(({ value }) => value === null)) return 'No data'
  if (values.length === 1) return `${format(values[0]!.value)}${unit ? ` ${unit}` : ''}`
  return values.map(({ name, value }) => `${name} ${format(value)}`).join(', ')
}

const NUMBER = new Intl.NumberFormat('en', { maximumSignificantDigits: 4, useGrouping: false })

const format = (value: number | null): string => (value === null ? '–' : NUMBER.format(value).replace('-', '−'))
