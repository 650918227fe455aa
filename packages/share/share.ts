/** The public page of a share link: the password, then the map. */
import {
  askForFile,
  loadTiles,
  loadValues,
  openShare,
  publicGrant,
  Refused,
  type NamedMap,
  type Opened,
  type SharedItem,
  type Tiles,
} from './share-api.ts'
import { openLayers, type OpenedLayers } from './share-layers.ts'
import { asText, createCompare, fromText, type Other } from './share-compare.ts'
import { showLegend, showValues } from './share-legend.ts'
import type { Place, Pointed, ShareMap } from './share-map.ts'
import { createPanel, element, formatPlace } from './share-panel.ts'
import { focusOn, forgetGrant, isEmbedded, rememberedGrant, rememberGrant, token } from './share-visit.ts'

let map: ShareMap | null = null
interface Shown {
  item: SharedItem
  style: string | null
  /** Once they are known. */
  tiles?: Tiles
}

let shown: Shown | null = null
/** Right of the divider. */
let other: Shown | null = null
let items: readonly SharedItem[] = []
/** Of a shared map, instead of an item. */
let layers: OpenedLayers | null = null

const panel = createPanel({
  onPick: (item) => void show(item),
  onStyle(style) {
    if (shown) void draw(shown.item, style)
  },
  onOpacity: (share) => map?.setOpacity(share),
  onFit: () => shown && map?.fit(shown.item, true),
  onFile(file) {
    askForFile(file).then(
      (url) => location.assign(url),
      (error: unknown) => panel.notice(messageOf(error)),
    )
  },
})

const compare = createCompare((chosen) => void drawOther(chosen))

const messageOf = (error: unknown): string => (error instanceof Refused ? error.message : 'Something went wrong.')

/** Fetched while somebody types: it is the largest part of the page. */
const mapLoading = import('./share-map.ts')
  .then(({ createMap }) => {
    map = createMap(element('map'), {
      isEmbedded,
      onRefused: ended,
      onDrawing: (busy) => panel.setBusy(busy),
      onMoved: (place) => remember({ place }),
      onPointer: (at) => void tellValues(at),
    })
  })
  .catch(() => panel.notice('The map cannot be drawn in this browser: it needs WebGL 2.'))

if (isEmbedded) {
  panel.fold(true)
  const whole = element<HTMLAnchorElement>('whole')
  whole.hidden = false
  // With what is shown now: the item, its style and the place.
  whole.addEventListener('click', () => {
    whole.href = `/s/${encodeURIComponent(token)}${location.hash}`
  })
  whole.href = `/s/${encodeURIComponent(token)}`
}

const form = element<HTMLFormElement>('open')
const password = element<HTMLInputElement>('password')

form.addEventListener('submit', (event) => {
  event.preventDefault()
  void tryOpening({ token, password: password.value })
})

element('reveal').addEventListener('click', ({ currentTarget }) => {
  const button = currentTarget as HTMLButtonElement
  const reveal = password.type === 'password'
  password.type = reveal ? 'text' : 'password'
  button.textContent = reveal ? 'Hide' : 'Show'
  button.setAttribute('aria-pressed', String(reveal))
  password.focus()
})

async function tryOpening(credential: { token: string; password?: string }): Promise<void> {
  const enter = element<HTMLButtonElement>('enter')
  enter.disabled = true
  enter.textContent = 'Opening …'
  try {
    const opened = await openShare(credential)
    rememberGrant(opened.target.grant)
    password.value = ''
    refuse(null)
    await enterMap(opened)
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    forgetGrant()
    showPasswordForm(credential.password === undefined ? null : error.message)
  } finally {
    enter.disabled = false
    enter.textContent = 'Open'
  }
}

function showPasswordForm(message: string | null): void {
  element('panel').hidden = true
  element('password-form').hidden = false
  refuse(message)
  focusOn(password)
  if (document.activeElement === password) password.select()
}

function refuse(message: string | null): void {
  element('refusal').hidden = message === null
  element('refusal').textContent = message ?? ''
  if (message === null) password.removeAttribute('aria-invalid')
  else password.setAttribute('aria-invalid', 'true')
}

async function enterMap(opened: Opened): Promise<void> {
  element('password-form').hidden = true
  element('panel').hidden = false
  panel.showTarget(opened)
  focusOn(element('title'))
  await mapLoading
  if (opened.target_type === 'map') return await enterLayers(opened.target)
  items = opened.target_type === 'item' ? [opened.target] : opened.target.items
  map?.outline(items, (id) => {
    const picked = items.find((item) => item.id === id)
    if (picked && picked.id !== shown?.item.id) void show(picked)
  })
  const asked = view()
  const first = items.find(({ id }) => id === asked.item) ?? items.find((item) => item.tilejson !== null) ?? items[0]
  if (first) await show(first, asked)
}

/** A map with all its layers. */
async function enterLayers(target: NamedMap): Promise<void> {
  const { place } = view()
  layers = { top: () => null }
  const opened = openLayers(target, map, (error) => {
    if (error instanceof Refused && error.status === 401) ended()
    else panel.notice(messageOf(error))
  })
  if (place) map?.goTo(place)
  const known = await opened
  if (layers) layers = known
}

/** With a view that came in the address, that place and that style. */
async function show(item: SharedItem, asked: View = {}): Promise<void> {
  panel.showItem(item, null)
  map?.choose(item)
  if (asked.place) map?.goTo(asked.place)
  else map?.fit(item, true)
  await draw(item, asked.style ?? item.visualizations.find((each) => each.is_default)?.id ?? null)
  if (asked.other) await drawOther(asked.other)
}

/** What of a visit can be sent to somebody else: the item, its style and the place, behind the `#`, which no server sees. */
interface View {
  item?: string
  style?: string
  place?: Place
  /** Null takes it out. */
  other?: Other | null
}

function view(): View {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const [longitude, latitude, zoom] = (fragment.get('at') ?? '').split(',').map(Number)
  const isPlace = [longitude, latitude, zoom].every((part) => part !== undefined && Number.isFinite(part)) && Math.abs(latitude!) <= 90
  const style = fragment.get('style') ?? fragment.get('look') // Links of older versions.
  return {
    ...(fragment.get('item') ? { item: fragment.get('item')! } : {}),
    ...(style ? { style } : {}),
    ...(fromText(fragment.get('with') ?? '') ? { other: fromText(fragment.get('with')!) } : {}),
    ...(isPlace ? { place: { longitude: longitude!, latitude: latitude!, zoom: zoom! } } : {}),
  }
}

function remember(changed: View): void {
  if (!shown && !layers) return
  const { place, other: right, ...rest } = { ...view(), ...changed }
  const at = place ? { at: [place.longitude.toFixed(5), place.latitude.toFixed(5), place.zoom.toFixed(2)].join(',') } : {}
  history.replaceState(null, '', `#${new URLSearchParams({ ...rest, ...at, ...(right ? { with: asText(right) } : {}) }).toString()}`)
}

/** The document of the tiles names every style that there is; those of a collection's items are learnt from it. */
async function draw(item: SharedItem, style: string | null): Promise<void> {
  const mine: Shown = (shown = { item, style })
  remember({ item: item.id, ...(style === null ? {} : { style }) })
  panel.setBusy(true)
  element<HTMLInputElement>('opacity').value = '100'
  panel.notice(item.tilejson === null ? 'There is no image of this one that could be drawn.' : null)
  const tiles = item.tilejson === null ? null : await tilesFor(mine, item.tilejson)
  if (shown !== mine) return // Somebody has chosen another one meanwhile.
  if (tiles) {
    item.visualizations = tiles.visualizations
    mine.tiles = tiles
    mine.style = style ?? tiles.visualizations.find((each) => each.is_default)?.id ?? null
    panel.showStyles(tiles.visualizations, mine.style)
  }
  map?.draw(tiles)
  await drawOther(null)
}

/** Null where it was refused, which is told. */
async function tilesFor(mine: Shown, tilejson: string): Promise<Tiles | null> {
  try {
    return await loadTiles(tilejson, mine.style)
  } catch (error) {
    if (shown !== mine && other !== mine) return null
    if (error instanceof Refused && error.status === 401) ended()
    else panel.notice(messageOf(error))
    return null
  }
}

const nameOf = ({ item, style }: Shown): string => item.visualizations.find(({ id }) => id === style)?.label ?? item.name

/** What is right of the divider; null for nothing. */
async function drawOther(chosen: Other | null): Promise<void> {
  if (!shown) return
  const item = chosen && 'item' in chosen ? items.find(({ id }) => id === chosen.item) : shown.item
  const style = chosen && 'style' in chosen ? chosen.style : null
  const mine: Shown | null = (other = chosen && item?.tilejson ? { item, style } : null)
  const tiles = mine && (await tilesFor(mine, mine.item.tilejson!))
  if (!shown || other !== mine) return
  if (!mine || !tiles) other = null
  else mine.tiles = tiles
  remember({ other: other ? chosen : null })
  compare.offer(shown, items, other ? chosen : null)
  map?.compare(other ? tiles : null)
  compare.show(other ? namesOf(shown, other) : null)
  showLegend([shown, ...(other ? [other] : [])].map((each) => ({ label: nameOf(each), legend: each.tiles?.legend ?? null })))
}

const namesOf = (left: Shown, right: Shown): readonly [string, string] =>
  left.item.id === right.item.id ? [nameOf(left), nameOf(right)] : [left.item.name, right.item.name]

let asking = new AbortController()

async function tellValues(at: Pointed | null): Promise<void> {
  asking.abort()
  const top = at && layers?.top()
  if (at && top) return await tellOf({ tilejson: top.tilejson, style: null }, top.unit, at)
  const target = at && other && compare.isRight(at.x) ? other : shown
  if (!at || !target?.item.tilejson || !target.tiles) return showValues(null)
  await tellOf({ tilejson: target.item.tilejson, style: target.style }, target.tiles.legend?.unit ?? null, at)
}

async function tellOf(of: { tilejson: string; style: string | null }, unit: string | null, at: Pointed): Promise<void> {
  const { signal } = (asking = new AbortController())
  const values = await loadValues(of, at, signal)
  if (!signal.aborted) showValues({ values, place: formatPlace(at), unit })
}

/** A tile was refused: the link was ended, or the hour of this visit is over. */
function ended(): void {
  if (element('panel').hidden) return
  forgetGrant()
  shown = null
  leave()
  showPasswordForm('This visit has ended. If the link is still open, its password opens it again.')
}

/** Nothing of the visit stays on the screen. */
function leave(): void {
  other = null
  layers = null
  map?.compare(null)
  map?.clear()
  compare.show(null)
  showLegend([])
}

const grant = rememberedGrant() ?? (await publicGrant(token))
if (grant) await tryOpening({ token: grant })
else showPasswordForm(null)
