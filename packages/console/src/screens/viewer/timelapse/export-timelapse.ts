/** Shows the frames on the map one after the other and records what is seen. */
import type { FramePlayer } from '../../../map/frame-player.ts'
import { sharedMap } from '../../../map/shared-map.ts'
import { takeSnapshot } from '../../../map/snapshot.ts'
import { termsOf } from '../../../state/terms.ts'
import { date } from '../../../ui/format.ts'
import type { ViewLegend } from '../view-picture.ts'
import { drawFrame, layoutOf, measureText, type FrameLayout } from './frame-picture.ts'
import type { Frame } from './frames.ts'
import { createRecorder, type AnimationFormat } from './recorder.ts'

/** The size of the pictures of the map as it is now, with the sources of all frames. */
export function plannedLayout(frames: readonly Frame[], longest: number, hasLegend: boolean): FrameLayout {
  const { map, element } = sharedMap()
  const shown = element.querySelector('.maplibregl-ctrl-attrib-inner')?.textContent?.trim() ?? ''
  const others = frames.flatMap(({ items }) => items.map(({ properties }) => termsOf(properties).attribution ?? ''))
  const missing = [...new Set(others)].filter((text) => text !== '' && !shown.includes(text))
  const attribution = [shown, ...missing].filter(Boolean).join(' | ')
  return layoutOf(map.getCanvas(), longest, { attribution, hasLegend, measure: measureText })
}

/** Waiting for tiles can take long; who cancels does not wait. */
const unlessAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    work.then(resolve, reject)
  })

interface Export {
  format: AnimationFormat
  layout: FrameLayout
  frameMs: number
  legend: ViewLegend | null
  player: FramePlayer
  /** In the order of the file, each with its place among the frames of the player. */
  frames: readonly { frame: Frame; index: number }[]
}

export async function exportTimelapse(
  { format, layout, frameMs, legend, player, frames }: Export,
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<Blob> {
  const picture = document.createElement('canvas')
  picture.width = layout.width
  picture.height = layout.height
  const recorder = await createRecorder(format, layout, frameMs)
  try {
    for (const [done, { frame, index }] of frames.entries()) {
      onProgress(done)
      await player.show(index, signal)
      const { canvas } = await unlessAborted(takeSnapshot(sharedMap()), signal)
      drawFrame(picture, layout, { map: canvas, date: date(frame.day), legend })
      await recorder.add(picture)
      signal.throwIfAborted()
    }
    onProgress(frames.length)
    return await recorder.finish()
  } finally {
    recorder.close()
  }
}
