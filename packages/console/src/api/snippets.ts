/** A recorded call as curl, TypeScript, Python and a command line. */
import type { RecordedCall } from './recorder.ts'

export type Language = 'curl' | 'typescript' | 'python' | 'cli'

/** Longer bodies are put on one line: they are mostly geometry. */
const MAX_BODY = 4_000

const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** A path without quotes where a shell leaves it alone; a query can hold what somebody typed. */
const plain = (path: string) => (/^[\w./-]*$/.test(path) ? path : quoted(path))

function json(body: unknown, spaces?: number): string {
  const text = JSON.stringify(body ?? {}, null, spaces)
  return text.length > MAX_BODY ? JSON.stringify(body ?? {}) : text
}

export function snippet(call: RecordedCall, language: Language): string {
  if (language === 'curl') return curl(call)
  if (call.method === 'GET' || !call.path.startsWith('/v1/op/')) return curl(call)
  if (language === 'typescript') return typescript(call)
  return language === 'python' ? python(call) : cli(call)
}

function curl({ method, path, body, idempotencyKey }: RecordedCall): string {
  const lines = [`curl -s "$BASE"${plain(path)}`, '-H "Authorization: Bearer $TOKEN"']
  if (idempotencyKey) lines.push(`-H ${quoted(`Idempotency-Key: ${idempotencyKey}`)}`)
  if (method === 'POST') lines.push("-H 'Content-Type: application/json'", `-d ${quoted(json(body))}`)
  return lines.join(' \\\n  ')
}

function typescript({ operation, body, idempotencyKey }: RecordedCall): string {
  const input = json(body, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
  const options = idempotencyKey ? `, { idempotencyKey: '${idempotencyKey}' }` : ''
  return `import { Groundtrack } from '@groundtrack/client'

const gt = new Groundtrack({ baseUrl: process.env.BASE, apiKey: process.env.TOKEN })
const result = await gt.${operation}(${input}${options})`
}

const PYTHON: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' }
/** A string is matched as a whole, so that the words in it stay as they are. */
const STRING_OR_CONSTANT = /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g

function python({ operation, body, idempotencyKey }: RecordedCall): string {
  const input = json(body, 4).replaceAll(STRING_OR_CONSTANT, (part) => PYTHON[part] ?? part)
  const key = idempotencyKey ? `, {"idempotency_key": "${idempotencyKey}"}` : ''
  return `import os
from groundtrack import Groundtrack

gt = Groundtrack(os.environ["BASE"], api_key=os.environ["TOKEN"])
result = gt.call("${operation}", ${input}${key})`
}

function cli({ operation, body }: RecordedCall): string {
  return `groundtrack call ${operation} ${quoted(json(body))}`
}
