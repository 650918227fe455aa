/** The panel beside the map. Everything that people wrote is put in as text, never as markup. */
import type { SharedStyle, Opened, SharedFile, SharedItem } from './share-api.ts'

interface PanelEvents {
  onPick(item: SharedItem): void
  onStyle(style: string): void
  onOpacity(share: number): void
  onFit(): void
  onFile(file: SharedFile): void
}

export const element = <T extends HTMLElement = HTMLElement>(id: string): T => document.getElementById(id) as T

const TYPES: Readonly<Record<string, string>> = {
  satellite_capture: 'Satellite image',
  derived_raster: 'Derived image',
  derived_vector: 'Derived vector data',
  clip: 'Clip',
  user_raster: 'Image',
  user_vector: 'Vector data',
  external_reference: 'Image',
  mosaic: 'Mosaic',
}

export function createPanel(events: PanelEvents) {
  element('opacity').addEventListener('input', ({ target }) => events.onOpacity(Number((target as HTMLInputElement).value) / 100))
  element('fit').addEventListener('click', () => events.onFit())
  element('style-search').addEventListener('input', ({ target }) => findStyles((target as HTMLInputElement).value))
  const folding = element<HTMLButtonElement>('fold')
  const fold = (hide: boolean) => {
    folding.setAttribute('aria-expanded', String(!hide))
    folding.textContent = hide ? 'Show details' : 'Hide details'
    element('panel').classList.toggle('folded', hide)
  }
  folding.addEventListener('click', () => fold(folding.getAttribute('aria-expanded') === 'true'))

  return {
    fold,
    showTarget(opened: Opened): void {
      const { target } = opened
      text('title', target.name)
      document.title = `${target.name} · Groundtrack`
      describe(target.description)
      const isCollection = opened.target_type === 'collection'
      text('kind', isCollection ? 'Collection' : opened.target_type === 'map' ? 'Map' : (TYPES[opened.target.type] ?? 'Image'))
      element('layers').hidden = true
      element('scenes').hidden = !isCollection
      text('expiry', `This link is open until ${formatTime(target.link_expires_at)}.`)
      if (opened.target_type === 'collection') listScenes(opened.target.items, opened.target.item_count, events.onPick)
    },
    showItem(item: SharedItem, style: string | null): void {
      for (const button of element('scene-list').querySelectorAll('button'))
        button.setAttribute('aria-pressed', String(button.dataset['id'] === item.id))
      element('facts').replaceChildren(...factsOf(item))
      this.showStyles(item.visualizations, style)
      element('strength').hidden = item.tilejson === null
      element<HTMLInputElement>('opacity').value = '100'
      listFiles(item.assets ?? [], events.onFile)
    },
    showStyles(styles: readonly SharedStyle[], chosen: string | null): void {
      listStyles(styles, chosen, events.onStyle)
    },
    notice(message: string | null): void {
      element('notice').hidden = message === null
      text('notice', message ?? '')
    },
    setBusy(busy: boolean): void {
      element('loading').hidden = !busy || element('panel').hidden
      element('panel').classList.toggle('busy', busy)
      element('map').setAttribute('aria-busy', String(busy))
    },
  }
}

function text(id: string, value: string): void {
  element(id).textContent = value
}

function describe(description: string | null): void {
  element('description').hidden = !description
  text('description', description ?? '')
}

export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  content: string | Node[] = [],
  attributes: Record<string, string> = {},
): HTMLElementTagNameMap[K] {
  const created = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value)
  created.append(...(typeof content === 'string' ? [content] : content))
  return created
}

function listScenes(items: readonly SharedItem[], total: number, onPick: (item: SharedItem) => void): void {
  text(
    'scenes-title',
    total === 0
      ? 'This collection is empty'
      : items.length < total
        ? `The newest ${items.length} of ${total} items`
        : total === 1
          ? '1 item'
          : `${total} items`,
  )
  element('scene-list').replaceChildren(
    ...items.map((item) => {
      const button = make('button', [make('strong', item.name), make('span', item.datetime ? formatTime(item.datetime) : 'No date')], {
        type: 'button',
        'aria-pressed': 'false',
      })
      button.dataset['id'] = item.id
      button.addEventListener('click', () => onPick(item))
      return make('li', [button])
    }),
  )
}

function factsOf(item: SharedItem): HTMLElement[] {
  const facts: [string, string | HTMLElement | null][] = [
    ['Taken', item.datetime && formatTime(item.datetime)],
    ['Cloud cover', item.cloud_cover === null ? null : `${round(item.cloud_cover, 1)} %`],
    ['Resolution', item.gsd === null ? null : item.gsd < 1 ? `${round(item.gsd * 100, 0)} cm` : `${round(item.gsd, 1)} m`],
    ['Centre', item.bbox && formatPlace(middleOf(item.bbox))],
    ['Attribution', item.attribution],
    ['Licence', licenceOf(item.license)],
  ]
  return facts.flatMap(([name, value]) =>
    value ? [make('div', [make('dt', name), make('dd', typeof value === 'string' ? value : [value])])] : [],
  )
}

/** With a link to its text; the service has checked that it is a web address. */
function licenceOf({ name, url }: SharedItem['license']): string | HTMLElement | null {
  return url === null ? name : make('a', name ?? 'Terms of use', { href: url, target: '_blank', rel: 'noreferrer' })
}

/** What most people look for, and what somebody has saved; the rest, which may be a hundred, waits behind a word. */
const FAVOURITES = ['rgb', 'cir', 'swir', 'agriculture', 'land-water', 'ndvi', 'ndwi', 'nbr', 'elevation']
const MAX_STYLES_SHOWN = 12

function byFavour(styles: readonly SharedStyle[]): { first: SharedStyle[]; rest: SharedStyle[] } {
  const wanted = (style: SharedStyle) => style.is_default || style.category === 'saved' || FAVOURITES.includes(style.id)
  const few = styles.length <= MAX_STYLES_SHOWN
  const first = styles.filter((style) => few || wanted(style)).slice(0, MAX_STYLES_SHOWN)
  return { first, rest: styles.filter((style) => !first.includes(style)) }
}

/** Kinds of styles in words; what is none of these stands under its own name. */
const CATEGORIES: Readonly<Record<string, string>> = {
  saved: 'Saved',
  composite: 'Composites',
  vegetation: 'Plants',
  water: 'Water',
  burn: 'Fire',
  snow: 'Snow and ice',
  soil: 'Soil',
  urban: 'Towns',
  moisture: 'Moisture',
  pigments: 'Pigments',
  radar: 'Radar',
  elevation: 'Heights',
}

function groupsOf(styles: readonly SharedStyle[]): [string, SharedStyle[]][] {
  const groups = Map.groupBy(styles, ({ category }) => (category === null ? 'Others' : (CATEGORIES[category] ?? category)))
  return [...groups].toSorted(([a], [b]) => a.localeCompare(b))
}

function group(name: string, chips: HTMLElement[]): HTMLElement {
  return make('section', [make('h3', name), make('div', chips, { class: 'chips' })])
}

/** Leaves only the styles whose name or description has the words. */
function findStyles(wanted: string): void {
  const words = wanted.trim().toLowerCase()
  for (const section of element('more-list').querySelectorAll('section')) {
    for (const label of section.querySelectorAll('label'))
      label.hidden = !`${label.textContent} ${label.title}`.toLowerCase().includes(words)
    section.hidden = section.querySelector('label:not([hidden])') === null
  }
}

function listStyles(styles: readonly SharedStyle[], chosen: string | null, onStyle: (style: string) => void): void {
  const fieldset = element('styles')
  fieldset.hidden = styles.length < 2
  const { first, rest } = byFavour(styles)
  const listed = [...fieldset.querySelectorAll<HTMLInputElement>('input[type=radio]')]
  const ordered = [...first, ...groupsOf(rest).flatMap(([, members]) => members)]
  if (listed.length === ordered.length && listed.every((input, index) => input.value === ordered[index]!.id)) {
    // Kept, so that whoever walks through them by keyboard keeps their place.
    for (const input of listed) input.checked = input.value === chosen
    return
  }
  const chip = (style: SharedStyle) => {
    const input = make('input', [], { type: 'radio', name: 'style', value: style.id })
    input.checked = style.id === chosen
    input.addEventListener('change', () => onStyle(style.id))
    return make('label', [input, make('span', style.label)], style.description ? { title: style.description } : {})
  }
  element('style-list').replaceChildren(...first.map(chip))
  element('more-list').replaceChildren(...groupsOf(rest).map(([name, members]) => group(name, members.map(chip))))
  text('more-count', 'All other styles')
  const more = element<HTMLDetailsElement>('more-styles')
  more.hidden = rest.length === 0
  more.open = rest.some((style) => style.id === chosen)
}

function listFiles(files: readonly SharedFile[], onFile: (file: SharedFile) => void): void {
  element('files').hidden = files.length === 0
  element('file-list').replaceChildren(
    ...files.map((file) => {
      const size = file.file_size_bytes === null ? '' : formatSize(file.file_size_bytes)
      const link = make('a', [make('strong', file.title ?? file.file_name), make('span', size)], { href: file.url, rel: 'noopener' })
      link.addEventListener('click', (event) => {
        event.preventDefault() // A refusal is told here, not on a page of its own.
        onFile(file)
      })
      return make('li', [link])
    }),
  )
}

const TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
})

function formatTime(value: string): string {
  return `${TIME.format(new Date(value)).replace(' at ', ', ')} UTC`
}

function middleOf([west, south, east, north]: readonly [number, number, number, number]): { longitude: number; latitude: number } {
  const x = (west + (east < west ? east + 360 : east)) / 2
  return { longitude: x > 180 ? x - 360 : x, latitude: (south + north) / 2 }
}

export function formatPlace({ longitude, latitude }: { longitude: number; latitude: number }): string {
  return `${Math.abs(latitude).toFixed(3)}° ${latitude < 0 ? 'S' : 'N'}, ${Math.abs(longitude).toFixed(3)}° ${longitude < 0 ? 'W' : 'E'}`
}

function formatSize(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  let value = bytes
  let unit = 0
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000
    unit++
  }
  return `${round(value, value < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`
}

function round(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)))
}
