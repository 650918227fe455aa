/**
 * Draws the folders as docs/layers.svg: a row for each layer, the highest on top. Every folder names all it imports, with the
 * number of imports. Arrows are drawn only where no longer way leads to the same folder, so that they can be followed by eye.
 */
import type { Graph } from './imports.ts'
import { LAYERS, LAYER_TITLES, nameOf, folderOf, FOLDERS, type Folder } from './layers.ts'

const WIDTH = 1480
const LEFT = 160
const BOX = { width: 226, gap: 32, padding: 12 }
const ROW_GAP = 70
const TITLE = 112
const LINE = 15
const CHARACTERS = 32
const AGAINST = '#b3261e'
const FONT = "font-family='system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'"
const COLOURS = ['#e8f0e4', '#e3eef2', '#e6e9f5', '#efe8f4', '#fbeee3', '#fdf4dc', '#f9e9e6', '#eeeeee']

const LEGEND =
  'Imports point down or along a row, never up. An arrow that a chain of others replaces is left out; each box lists all its imports.'

interface Arrow {
  readonly from: Folder
  readonly to: Folder
  readonly count: number
}

interface Box {
  readonly folder: Folder
  readonly x: number
  readonly y: number
  readonly height: number
  readonly purpose: readonly string[]
  readonly imports: readonly string[]
  readonly fileCount: number
}

/** Imports between folders, counted. */
function arrowsOf({ imports }: Graph): Arrow[] {
  const counted = new Map<string, Arrow>()
  for (const { from, to } of imports) {
    const [source, target] = [folderOf(from), folderOf(to)]
    if (!source || !target || source === target) continue
    const key = `${source.path} ${target.path}`
    counted.set(key, { from: source, to: target, count: (counted.get(key)?.count ?? 0) + 1 })
  }
  return [...counted.values()].toSorted((a, b) => place(a.from) - place(b.from) || place(a.to) - place(b.to))
}

/** A folder imports those that are listed before it in the table. */
const place = (folder: Folder) => FOLDERS.indexOf(folder)

/** Arrows that no chain of others replaces. */
function withoutShortcuts(arrows: readonly Arrow[]): Arrow[] {
  const next = Map.groupBy(
    arrows.filter(({ from, to }) => place(to) < place(from)),
    ({ from }) => from,
  )
  const reaches = (from: Folder, to: Folder, seen: Set<Folder>): boolean =>
    from === to || (!seen.has(from) && (seen.add(from), next.get(from) ?? []).some((arrow) => reaches(arrow.to, to, seen)))
  const isReplaced = ({ from, to }: Arrow) =>
    (next.get(from) ?? []).some((other) => other.to !== to && reaches(other.to, to, new Set([from])))
  return arrows.filter((arrow) => place(arrow.to) > place(arrow.from) || !isReplaced(arrow))
}

function wrap(text: string): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trim()
    if (line.length > CHARACTERS && lines.at(-1) !== '') lines.push(word)
    else lines[lines.length - 1] = line
  }
  return lines
}

/** No-break spaces keep a name and its number on one line. */
function importsText(folder: Folder, arrows: readonly Arrow[]): string[] {
  const own = arrows.filter(({ from }) => from === folder).toSorted((a, b) => b.count - a.count)
  if (own.length === 0) return ['imports nothing of ours']
  return wrap(`imports ${own.map(({ to, count }) => `${nameOf(to)}\u00a0${count}`).join(', ')}`)
}

function layOut(
  graph: Graph,
  arrows: readonly Arrow[],
): { boxes: Box[]; height: number; rows: { title: string; y: number; height: number }[] } {
  const counts = Map.groupBy(graph.files, folderOf)
  const boxes: Box[] = []
  const rows: { title: string; y: number; height: number }[] = []
  let y = TITLE
  for (const layer of LAYERS.toReversed()) {
    const folders = FOLDERS.filter((folder) => folder.layer === layer && counts.has(folder))
    if (folders.length === 0) continue
    const texts = folders.map((folder) => ({ folder, purpose: wrap(folder.purpose), imports: importsText(folder, arrows) }))
    const height = Math.max(...texts.map(({ purpose, imports }) => (purpose.length + imports.length) * LINE)) + 2 * BOX.padding + 30
    const start = LEFT + (WIDTH - LEFT - folders.length * (BOX.width + BOX.gap)) / 2
    texts.forEach((text, index) =>
      boxes.push({ ...text, x: start + index * (BOX.width + BOX.gap), y, height, fileCount: counts.get(text.folder)!.length }),
    )
    rows.push({ title: LAYER_TITLES[layer], y, height })
    y += height + ROW_GAP
  }
  return { boxes, rows, height: y - ROW_GAP + 24 }
}

const escape = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

function drawBox({ folder, x, y, height, purpose, imports, fileCount }: Box): string {
  const left = x + BOX.padding
  const top = y + BOX.padding + 12
  const lines = (texts: readonly string[], from: number, colour: string) =>
    texts
      .map((text, index) => `<text x='${left}' y='${from + index * LINE}' font-size='12' fill='${colour}'>${escape(text)}</text>`)
      .join('\n')
  const files = folder.path.endsWith('/') ? `${fileCount} files` : '' // The name of a single file says it.
  const fill = COLOURS[LAYERS.indexOf(folder.layer)]
  return `<rect x='${x}' y='${y}' width='${BOX.width}' height='${height}' rx='8' fill='${fill}' stroke='#8a939c'/>
<text x='${left}' y='${top}' font-size='16' font-weight='600' fill='#1b232b'>${nameOf(folder)}</text>
<text x='${x + BOX.width - BOX.padding}' y='${top}' font-size='11' fill='#68727c' text-anchor='end'>${files}</text>
${lines(purpose, top + 20, '#1b232b')}
${lines(imports, top + 28 + purpose.length * LINE, '#55606a')}`
}

/** Where arrows leave or reach the edge of a box: side by side, in the order of what they lead to. */
function spread(box: Box, others: readonly Box[], other: Box): number {
  const sorted = others.toSorted((a, b) => a.x - b.x || a.y - b.y)
  return Math.round(box.x + (BOX.width * (sorted.indexOf(other) + 1)) / (sorted.length + 1))
}

interface Point {
  readonly x: number
  readonly y: number
}

interface Way {
  readonly path: string
  /** Where the number stands. */
  readonly at: Point
}

/** Draws arrows one after another, and remembers which gaps between boxes are taken. */
class Pen {
  readonly #boxes: ReadonlyMap<Folder, Box>
  readonly #arrows: readonly Arrow[]
  readonly #taken = new Map<string, number>()

  constructor(boxes: ReadonlyMap<Folder, Box>, arrows: readonly Arrow[]) {
    this.#boxes = boxes
    this.#arrows = arrows
  }

  draw({ from, to, count }: Arrow): { line: string; label: string } {
    const [source, target] = [this.#boxes.get(from)!, this.#boxes.get(to)!]
    const colour = place(to) > place(from) ? AGAINST : '#3f5871'
    const { path, at } = source.y < target.y ? this.#down(source, target) : along(source, target)
    return {
      line: `<path d='${path}' fill='none' stroke='${colour}' stroke-width='1.4' marker-end='url(#head)'/>`,
      label: badge(at, count),
    }
  }

  #down(source: Box, target: Box): Way {
    const down = this.#arrows.filter((arrow) => this.#boxes.get(arrow.from)!.y < this.#boxes.get(arrow.to)!.y)
    const out = down.filter(({ from }) => from === source.folder).map(({ to }) => this.#boxes.get(to)!)
    const into = down.filter(({ to }) => to === target.folder).map(({ from }) => this.#boxes.get(from)!)
    const start = { x: spread(source, out, target), y: source.y + source.height }
    const end = { x: spread(target, into, source), y: target.y - 2 }
    const passed = [...Map.groupBy(this.#boxes.values(), ({ y }) => y)]
      .filter(([y]) => y > source.y && y < target.y)
      .toSorted(([a], [b]) => a - b)
    let path = `M${start.x} ${start.y}`
    let last: Point = start
    for (const [y, row] of passed) {
      const x = this.#gap(row, last.x + ((end.x - last.x) * (y - last.y)) / (end.y - last.y))
      const below = y + row[0]!.height
      path += `${bend(last, { x, y })} L${x} ${below}`
      last = { x, y: below }
    }
    return { path: path + bend(last, end), at: { x: end.x, y: end.y - 18 } }
  }

  /** The gap of a row nearest to where an arrow would like to pass. Arrows in one gap stand side by side. */
  #gap(row: readonly Box[], wanted: number): number {
    const gaps = [row[0]!.x - BOX.gap / 2, ...row.map(({ x }) => x + BOX.width + BOX.gap / 2)]
    const nearest = gaps.toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0]!
    const key = `${row[0]!.y} ${nearest}`
    const taken = this.#taken.get(key) ?? 0
    this.#taken.set(key, taken + 1)
    return Math.round(nearest + (taken % 2 === 0 ? 1 : -1) * Math.ceil(taken / 2) * 6)
  }
}

function bend(from: Point, to: Point): string {
  const middle = Math.round((from.y + to.y) / 2)
  return ` C${from.x} ${middle} ${to.x} ${middle} ${to.x} ${to.y}`
}

/** An arc over the boxes of one row; further ones rise higher. Also an arrow that points up, where the layers are not kept. */
function along(source: Box, target: Box): Way {
  const isLeft = target.x < source.x
  const steps = Math.max(1, Math.round(Math.abs(target.x - source.x) / (BOX.width + BOX.gap)))
  const inset = 20 + 14 * steps
  const [x1, x2] = isLeft ? [source.x + inset, target.x + BOX.width - inset] : [source.x + BOX.width - inset, target.x + inset]
  const rise = 26 + 9 * steps
  const path = `M${x1} ${source.y} C${x1} ${source.y - rise} ${x2} ${target.y - rise} ${x2} ${target.y - 2}`
  return { path, at: { x: (x1 + x2) / 2, y: Math.round((source.y + target.y) / 2 - rise * 0.75) } }
}

const badge = ({ x, y }: Point, count: number) =>
  `<rect x='${x - 14}' y='${y - 9}' width='28' height='15' rx='7' fill='#ffffff' stroke='#aab2ba'/>` +
  `<text x='${x}' y='${y + 3}' font-size='11' fill='#1b232b' text-anchor='middle'>${count}</text>`

/** The text of docs/layers.svg. */
export function picture(graph: Graph): string {
  const all = arrowsOf(graph)
  const { boxes, rows, height } = layOut(graph, all)
  const byFolder = new Map(boxes.map((box) => [box.folder, box]))
  const arrows = withoutShortcuts(all)
  const pen = new Pen(byFolder, arrows)
  const drawn = arrows.map((arrow) => pen.draw(arrow))
  const bands = rows.map(
    ({ title, y, height: tall }) =>
      `<rect x='0' y='${y - 14}' width='${WIDTH}' height='${tall + 28}' fill='#f4f6f7'/>\n` +
      wrapTitle(title)
        .map((text, index) => `<text x='20' y='${y + 24 + index * 18}' font-size='14' fill='#3b4650'>${text}</text>`)
        .join('\n'),
  )
  return `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 ${WIDTH} ${height}' ${FONT}>
<!-- Drawn by \`npm run gen\` from the imports of src/ and sandbox/. -->
<title>The layers of Groundtrack and their imports</title>
<defs><marker id='head' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='8' markerHeight='8' orient='auto'>
<path d='M0 0 L10 5 L0 10 z' fill='#3f5871'/></marker></defs>
<rect width='${WIDTH}' height='${height}' fill='#ffffff'/>
<text x='20' y='34' font-size='22' font-weight='600' fill='#1b232b'>The layers of Groundtrack and their imports</text>
<text x='20' y='56' font-size='13' fill='#3b4650'>${LEGEND}</text>
${bands.join('\n')}
${drawn.map(({ line }) => line).join('\n')}
${boxes.map(drawBox).join('\n')}
${drawn.map(({ label }) => label).join('\n')}
</svg>
`
}

/** Row titles stand in a narrow column. */
function wrapTitle(title: string): string[] {
  const lines = ['']
  for (const word of title.split(' ')) {
    if (`${lines.at(-1)} ${word}`.length > 19) lines.push(word)
    else lines[lines.length - 1] = `${lines.at(-1)} ${word}`.trim()
  }
  return lines
}
