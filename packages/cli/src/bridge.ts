/** Messages of the Model Context Protocol from stdin to the service and back, a line each. */
import { createInterface } from 'node:readline'
import type { Client } from '../../client/src/core.ts'
import { print } from './terminal.ts'

/** Calls at work at once; more wait. */
const MAX_AT_WORK = 16
/** A tool may wait for a job. */
const TIMEOUT_MS = 600_000

interface Message {
  id?: string | number
  method?: string
}

export async function bridge(client: Client, path: string): Promise<void> {
  const atWork = new Set<Promise<void>>()
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (line.trim() === '') continue
    const work = handle(client, path, line).finally(() => atWork.delete(work))
    atWork.add(work)
    if (atWork.size >= MAX_AT_WORK) await Promise.race(atWork)
  }
  await Promise.all(atWork)
}

async function handle(client: Client, path: string, line: string): Promise<void> {
  let message: Message | null = null
  try {
    message = JSON.parse(line) as Message
    const response = await client.post(path, line, { timeoutMs: TIMEOUT_MS, headers: { accept: 'application/json, text/event-stream' } })
    if (response.status === 202) return
    await print(`${JSON.stringify(await response.json())}\n`)
  } catch (error) {
    if (message?.id === undefined) return // Nobody waits for an answer to a notification.
    const text = error instanceof Error ? error.message : String(error)
    await print(`${JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code: -32_000, message: text } })}\n`)
  }
}
