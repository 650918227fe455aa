/** Writes a described scene, or a part of one, as a COG, and reads single windows of it. */
import { setImmediate } from 'node:timers/promises'
import { crsFromEpsg } from '#raster/crs/registry.ts'
import { throwIfAborted, type Block } from '#raster/types.ts'
import { writeCog, type WrittenCog } from '#raster/write/cog.ts'
import type { CogSpec } from '#raster/write/spec.ts'
import type { ByteSink } from '#raster/write/sink.ts'
import type { SceneDescription } from './describe.ts'
import { rowPainter, type SceneSamples } from './pixels.ts'

export interface RenderOptions {
  readonly signal?: AbortSignal | undefined
  /** From 0 to 1. */
  readonly onProgress?: (fraction: number) => void
  readonly temporaryDirectory?: string
}

/** Rows between two checks of the signal and of the event loop. */
const ROWS_PER_TURN = 16

/** The metadata of a scene's file. */
export function cogSpecOf(scene: SceneDescription): CogSpec {
  const { width, height, dataType, bands, transform, epsg, nodata } = scene
  return {
    width,
    height,
    dataType,
    bandCount: bands.length,
    transform,
    crs: crsFromEpsg(epsg),
    nodata,
    bands: bands.map(({ name }) => ({ name, unit: dataType === 'float32' ? 'metre' : null })),
    metadata: {
      TIFFTAG_DATETIME: scene.datetime.slice(0, 19).replaceAll('-', ':').replace('T', ' '),
      SCENE_ID: scene.id,
      SENSOR: scene.sensor,
    },
  }
}

export async function renderScene(scene: SceneDescription, sink: ByteSink, options: RenderOptions = {}): Promise<WrittenCog> {
  const { width, bands } = scene
  const painter = rowPainter(scene)
  return writeCog(
    sink,
    cogSpecOf(scene),
    async (y, rows, signal) => {
      const samples = painter.begin(y, rows)
      for (let row = 0; row < rows; row++) {
        painter.paintRow(y + row, row)
        if (row % ROWS_PER_TURN === 0) {
          await setImmediate()
          throwIfAborted(signal)
        }
      }
      return blockOf(samples, width, rows, bands.length)
    },
    options,
  )
}

/** All pixels of a small scene at once, interleaved. */
export function renderSamples(scene: SceneDescription): SceneSamples {
  const painter = rowPainter(scene)
  const samples = painter.begin(0, scene.height)
  for (let row = 0; row < scene.height; row++) painter.paintRow(row, row)
  return samples
}

function blockOf(samples: SceneSamples, width: number, rows: number, bandCount: number): Block<SceneSamples> {
  const order = Array.from({ length: bandCount }, (_, band) => band)
  return {
    width,
    height: rows,
    bands: order,
    data: order.map(() => samples),
    starts: order,
    stride: bandCount,
    mask: null,
    byteLength: samples.byteLength,
  }
}
