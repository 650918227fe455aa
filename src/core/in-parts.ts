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
  if (!isLong(list)) return list.map(map)
  const mapped: R[] = []
  for (let at = 0; at < list.length; at += PART) {
    for (const each of list.slice(at, at + PART)) mapped.push(map(each))
    await others()
  }
  return mapped
}

/** Whether other work may have to run before the end of the list. */
export const isLong = (list: readonly unknown[]): boolean => list.length > PART

/** For parts that often take no time, such as those of a list of numbers: a turn of a busy loop takes longer than many of them. */
const MAX_PARTS_MS = 2

/** Calls `work` with one part after another. Other work runs in between, as soon as the parts have taken a few milliseconds. */
export async function inParts<T>(list: readonly T[], work: (part: readonly T[]) => void): Promise<void> {
  let sliceEnd = performance.now() + MAX_PARTS_MS
  for (let at = 0; at < list.length; at += PART) {
    work(list.slice(at, at + PART))
    if (performance.now() < sliceEnd) continue
    await others()
    sliceEnd = performance.now() + MAX_PARTS_MS
  }
}
