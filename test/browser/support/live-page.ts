/** A page with the modules that apply styles on the graphics processor, as they are in the repository, and nothing else. */
import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import path from 'node:path'
import type { Browser, Page } from 'playwright-core'

const FOLDER = path.join(import.meta.dirname, '../../../packages/console/src/map/live')
const ORIGIN = 'https://modules.example'

/** Takes the bytes of a data tile and a look; gives the colours as RGBA, premultiplied, and whether the page itself finds them right. */
const PROGRAM = `(async () => {
  const { Styler } = await import('${ORIGIN}/styler.ts')
  const { readDataTile } = await import('${ORIGIN}/data-tile.ts')
  const gl = document.createElement('canvas').getContext('webgl2')
  const styler = new Styler(gl)
  const decoded = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0))
  const encoded = (bytes) => {
    let text = ''
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
    return btoa(text)
  }
  globalThis.drawn = async (tile, range, colors) => {
    const styled = styler.upload(await readDataTile(decoded(tile).buffer))
    const look = { range, colors: colors && decoded(colors) }
    try {
      styler.draw(styled, look)
      return { pixels: encoded(styler.read(styled)), isRight: styler.isRight(styled, look), error: gl.getError() }
    } finally {
      styler.release(styled)
    }
  }
  globalThis.costOf = async (tile, count, frames) => {
    const data = await readDataTile(decoded(tile).buffer)
    const tiles = Array.from({ length: count }, () => styler.upload({ ...data }))
    const [[low, high]] = data.header.ranges
    let script = 0
    const started = performance.now()
    for (let frame = 0; frame < frames; frame++) {
      const look = { range: [low, high - (frame * (high - low)) / (2 * frames)], colors: null }
      const before = performance.now()
      for (const each of tiles) styler.draw(each, look)
      script += performance.now() - before
      styler.read(tiles[0])
    }
    const all = performance.now() - started
    for (const each of tiles) styler.release(each)
    return { script: script / frames, all: all / frames }
  }
  return gl !== null
})()`

export interface LivePage {
  draw(tile: Uint8Array, range?: readonly [number, number] | null, colors?: Uint8Array | null): Promise<Drawn>
  /** Milliseconds of a repaint: of the page's own thread, and until the colours are there. */
  costOf(tile: Uint8Array, tiles: number, frames: number): Promise<{ script: number; all: number }>
}

interface Drawn {
  pixels: Buffer
  isRight: boolean
  error: number
}

export async function livePage(chromium: Browser): Promise<LivePage> {
  const page: Page = await chromium.newPage()
  await page.route(`${ORIGIN}/**`, async (route) => {
    const source = await readFile(path.join(FOLDER, path.basename(new URL(route.request().url()).pathname)), 'utf8')
    await route.fulfill({
      contentType: 'text/javascript',
      headers: { 'access-control-allow-origin': '*' },
      body: stripTypeScriptTypes(source),
    })
  })
  await page.evaluate(PROGRAM)
  const text = (bytes: Uint8Array | null) => (bytes ? Buffer.from(bytes).toString('base64') : null)
  return {
    async draw(tile, range = null, colors = null) {
      const call = `drawn(${JSON.stringify(text(tile))}, ${JSON.stringify(range)}, ${JSON.stringify(text(colors))})`
      const { pixels, ...rest } = await page.evaluate<{ pixels: string; isRight: boolean; error: number }>(call)
      return { pixels: Buffer.from(pixels, 'base64'), ...rest }
    },
    costOf: (tile, tiles, frames) => page.evaluate(`costOf(${JSON.stringify(text(tile))}, ${tiles}, ${frames})`),
  }
}
