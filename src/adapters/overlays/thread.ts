/** The worker thread that computes overlays. `overlays.ts` starts it; nothing imports it. */
import { parentPort } from 'node:worker_threads'
import { sqKmOf } from '#core/area.ts'
import { apart, commonOf, crossingsOf, restOf, unionOf } from '#core/overlay.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { Answer, Question } from './overlays.ts'

parentPort!.on('message', ({ id, question, maxCrossings }: { id: number; question: Question; maxCrossings: number }) => {
  const answer = (rest: Answer) => parentPort!.postMessage({ id, ...rest })
  try {
    if (crossingsOf(areasOf(question), maxCrossings) > maxCrossings) answer({ refusal: 'crossings' })
    else answer({ result: resultOf(question) })
  } catch {
    answer({ refusal: 'failed' })
  }
})

const areasOf = (question: Question): readonly AreaGeometry[] => {
  if (question.kind === 'layers') return question.layers.flat()
  return question.kind === 'coverage' ? [question.area, ...question.shown] : question.areas
}

function resultOf(question: Question): unknown {
  if (question.kind === 'union') return unionOf(question.areas)
  if (question.kind === 'layers') return layered(question.layers)
  const shown = unionOf(question.shown)
  const covered = shown && commonOf(question.area, shown)
  return { covered, rest: restOf(question.area, covered) }
}

function layered(layers: readonly (readonly AreaGeometry[])[]): { whole: AreaGeometry | null; addedSqKm: number[] } {
  let whole: AreaGeometry | null = null
  let before = 0
  const addedSqKm = layers.map((areas) => {
    const all = whole ? [whole, ...areas] : areas
    whole = apart(all) ?? unionOf(all)
    const after = whole ? sqKmOf(whole) : 0
    const added = Math.max(0, after - before)
    before = after
    return added
  })
  return { whole, addedSqKm }
}
