/** A page of a thousand takes the loop for tens of milliseconds. Between its parts the loop is everybody's. */
import { setImmediate as others } from 'node:timers/promises'

const PART = 100

export async function mapInParts<T, R>(list: readonly T[], map: (each: T) => R): Promise<R[]> {
  if (list.length <= PART) return list.map(map)
  const mapped: R[] = []
  for (let at = 0; at < list.length; at += PART) {
    for (const each of list.slice(at, at + PART)) mapped.push(map(each))
    await others()
  }
  return mapped
}
