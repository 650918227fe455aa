/** Maps long lists without blocking the event loop: a page of a thousand would block it for tens of milliseconds. */
import { setImmediate as others } from 'node:timers/promises'

const PART = 100

/** For entries that can take tens of milliseconds each: yields by time instead of by count. */
const MAX_SLICE_MS = 20

export async function mapInTime<T, R>(list: readonly T[], map: (each: T, index: number) => R): Promise<R[]> {
  const mapped: R[] = []
  let sliceEnd = performance.now() + MAX_SLICE_MS
  for (const [index, each] of list.entries()) {
    mapped.push(map(each, index))
    if (performance.now() < sliceEnd) continue
    await others()
    sliceEnd = performance.now() + MAX_SLICE_MS
  }
  return mapped
}

export async function mapInParts<T, R>(list: readonly T[], map: (each: T) => R): Promise<R[]> {
  if (list.length <= PART) return list.map(map)
  const mapped: R[] = []
  for (let at = 0; at < list.length; at += PART) {
    for (const each of list.slice(at, at + PART)) mapped.push(map(each))
    await others()
  }
  return mapped
}
