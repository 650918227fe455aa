import { Server } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Client } from '../../../client/src/core.ts'
import { connect } from '../config.ts'
import { EXIT } from '../failure.ts'
import { readFlags, type Run } from '../options.ts'
import { note } from '../terminal.ts'

/** A tool can wait for a job. */
const TIMEOUT_MS = 600_000

/** Each switch enables the tools of one tier. */
const PERMISSIONS = ['write', 'delete', 'spend']

/** Serves tools for agents over stdio. They come from `/mcp` of the service; this forwards them with the account's credential. */
export const run: Run = async (rest, options) => {
  const { values, switches } = readFlags(rest, { values: ['tools'], switches: PERMISSIONS, positions: 0 })
  const query = new URLSearchParams({
    ...(values['tools'] ? { tools: values['tools'] } : {}),
    ...Object.fromEntries(PERMISSIONS.filter((name) => switches.has(name)).map((name) => [name, '1'])),
  }).toString()
  const client = connect(options)
  const send = (method: string, params: object) => remote(client, `/mcp${query ? `?${query}` : ''}`, method, params)
  const { instructions } = await send('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'groundtrack-cli', version: '0.1.0' },
  })
  if (process.stdin.isTTY)
    note('This command speaks JSON-RPC on stdin and stdout; configure it as an MCP server in your agent', options.quiet)
  const ended = new Promise<void>((resolve) => void process.stdin.on('end', resolve).on('close', resolve))
  serveStdio(() => {
    const server = new Server(
      { name: 'groundtrack', version: '0.1.0' },
      { capabilities: { tools: {} }, ...(typeof instructions === 'string' ? { instructions } : {}) },
    )
    server.setRequestHandler('tools/list', async ({ params }) => (await send('tools/list', params ?? {})) as { tools: [] })
    server.setRequestHandler('tools/call', async ({ params }) => (await send('tools/call', params)) as { content: [] })
    return server
  })
  await ended
  return EXIT.ok
}

let calls = 0

async function remote(client: Client, path: string, method: string, params: object): Promise<Record<string, unknown>> {
  const message = { jsonrpc: '2.0', id: ++calls, method, params }
  const headers = { accept: 'application/json, text/event-stream' }
  const response = await client.post(path, JSON.stringify(message), { timeoutMs: TIMEOUT_MS, headers })
  const text = await response.text()
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
  const data = isStream
    ? text
        .split('\n')
        .find((line) => line.startsWith('data:'))!
        .slice('data:'.length)
    : text
  const { result, error } = JSON.parse(data) as { result?: Record<string, unknown>; error?: { message: string } }
  if (!result) throw new Error(error?.message ?? 'The service returned no result')
  return result
}
