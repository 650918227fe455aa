/** The handlers of the scene renderer's child process, which only computes pixels. */
import { encodePng } from '#raster/encode/png.ts'
import { openFileSink } from '#raster/write/sink.ts'
import { coarseCopy, renderSamples, renderScene, windowOf, type SceneDescription } from '../scenes/index.ts'
import type { CogBlock } from './virtual-cog.ts'

/** Reflectance that is shown as white, and the gamma for dark tones. */
const WHITE = 0.36
const GAMMA = 1.8

export const handlers = {
  block: async ({ scene, block }: { scene: SceneDescription; block: CogBlock }): Promise<Uint8Array> => {
    const samples = renderSamples(windowOf(scene, block, block.factor))
    return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
  },
  picture: async ({ scene, sidePx }: { scene: SceneDescription; sidePx: number }): Promise<Uint8Array> => pictureOf(scene, sidePx),
  file: async ({ scene, path }: { scene: SceneDescription; path: string }, signal: AbortSignal): Promise<{ byteLength: number }> => {
    const sink = await openFileSink(path)
    try {
      const { byteLength } = await renderScene(scene, sink, { signal })
      return { byteLength }
    } finally {
      await sink.close()
    }
  },
}

/** Natural colour, or heights in grey lit from the north-west; transparent outside the footprint. */
function pictureOf(scene: SceneDescription, sidePx: number): Buffer {
  const copy = coarseCopy(scene, sidePx)
  const samples = renderSamples(copy)
  const { width, height } = copy
  const data = new Uint8Array(width * height * 4)
  const paint = scene.dataType === 'float32' ? relief(copy, samples) : natural(copy, samples)
  for (let i = 0; i < width * height; i++) paint(i, data)
  return encodePng({ width, height, channels: 4, data })
}

type Paint = (pixel: number, data: Uint8Array) => void

function natural({ bands, scale }: SceneDescription, samples: ArrayLike<number>): Paint {
  const order = ['red', 'green', 'blue'].map((name) => bands.findIndex((band) => band.name === name))
  const tone = (sample: number): number => (scale === null ? sample : 255 * Math.min(1, (sample * scale) / WHITE) ** (1 / GAMMA))
  return (pixel, data) => {
    const at = pixel * bands.length
    order.forEach((band, channel) => (data[pixel * 4 + channel] = tone(samples[at + band]!)))
    data[pixel * 4 + 3] = samples[at] === 0 ? 0 : 255
  }
}

function relief({ width, gsdM }: SceneDescription, samples: ArrayLike<number>): Paint {
  return (pixel, data) => {
    const height = samples[pixel]!
    const rise = pixel > width ? (height - samples[pixel - width - 1]!) / gsdM : 0
    const tone = height === 0 ? 40 : Math.max(0, Math.min(255, 80 + height / 30 + rise * 260))
    data.fill(tone, pixel * 4, pixel * 4 + 3)
    data[pixel * 4 + 3] = 255
  }
}
