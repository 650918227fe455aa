/**
 * The worker thread that parses large bodies. It returns a small document and, cut out of it, each member of long lists as JSON
 * text: the event loop parses those a few at a time, so that no other request waits for all of them. `large-body.ts` starts it;
 * nothing imports it.
 */
import { parentPort } from 'node:worker_threads'
import { fingerprint } from '#core/canonical.ts'
import { Problem } from '#core/problem.ts'
import { parseJson } from './body.ts'
import type { Cut, ParsedLarge } from './large-body.ts'

const LONG_LIST = 50
/** More than any operation accepts. */
const MAX_LIST = 25_000
/** Lists in the body itself or in one of its members. */
const CUT_DEPTH = 2
const MAX_REST_BYTES = 512 * 1024
const MAX_MEMBER_BYTES = 512 * 1024
const LONG_TEXT = 64 * 1024

parentPort!.on('message', ({ id, bytes }: { id: number; bytes: Uint8Array }) => {
  try {
    parentPort!.postMessage({ id, parsed: parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) })
  } catch (error) {
    const refusal = error instanceof Problem ? { slug: error.slug, detail: error.message, members: error.members } : null
    parentPort!.postMessage(refusal ? { id, refusal } : { id, fault: error })
  }
})

function parse(bytes: Buffer): ParsedLarge {
  const value = parseJson(bytes)
  const hash = fingerprint(value)
  const cuts: Cut[] = []
  cut(value, [], cuts)
  const rest = JSON.stringify(value)
  if (rest.length > MAX_REST_BYTES || cuts.some(({ list }) => list?.some((text) => text.length > MAX_MEMBER_BYTES)))
    throw new Problem('invalid-json', `A member of the body is larger than ${MAX_REST_BYTES} bytes; split the request`)
  return { rest, cuts, hash }
}

function cut(holder: Record<string, unknown>, path: readonly string[], cuts: Cut[]): void {
  for (const [name, value] of Object.entries(holder)) {
    const at = [...path, name]
    const list = Array.isArray(value) ? value.map((member) => JSON.stringify(member)) : null
    if (list && (list.length > LONG_LIST || list.reduce((sum, text) => sum + text.length, 0) > LONG_TEXT)) {
      if (list.length > MAX_LIST) throw new Problem('invalid-json', `'${name}' has more than ${MAX_LIST} members; split the request`)
      cuts.push({ path: at, list })
      holder[name] = null
    } else if (typeof value === 'string' && value.length > LONG_TEXT) {
      cuts.push({ path: at, text: value })
      holder[name] = null
    } else if (value !== null && typeof value === 'object' && !Array.isArray(value) && at.length < CUT_DEPTH)
      cut(value as Record<string, unknown>, at, cuts)
  }
}
