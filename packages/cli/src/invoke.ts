/** Runs any operation as a command. */
import type { Client } from '../../client/src/client.ts'
import { command as load, type Command } from './catalogue.ts'
import { accountOf, connect } from './config.ts'
import { UsageError } from './failure.ts'
import { readInput } from './fields.ts'
import type { GlobalOptions, Word } from './options.ts'
import { json, note, print } from './terminal.ts'

export async function invoke(id: string, rest: readonly Word[], options: GlobalOptions): Promise<void> {
  const command = load(id)
  const { input, output: file, idempotencyKey, isAll } = readInput(command, rest, accountOf(options))
  const client = connect(options)
  const isSpend = command.tier === 'external_spend'
  if (options.dryRun) return await print(`${json(await dryRun(client, command, input))}\n`)
  if (isSpend) await (await import('./confirm.ts')).confirmPrice(client, { operation: id, input }, options)
  const call = idempotencyKey === null ? {} : { idempotencyKey }
  const repeat = command.tier === 'read' ? 'read' : command.isIdempotent ? 'keyed' : 'write'
  if (command.raw === 'bytes' || command.raw === 'xml') return await save(await client.raw(id, input, call, repeat), file, options)
  if (command.raw === 'ndjson') {
    for await (const line of client.lines(id, input)) await print(`${json(line, false)}\n`)
    return
  }
  if (command.paging && (isAll || options.ndjson)) return await printAll(client, command, input, options)
  const output = await client.call(id, input, call, repeat)
  if (options.ndjson && Array.isArray(output)) for (const record of output) await print(`${json(record, false)}\n`)
  else if (options.ndjson) await print(`${json(output, false)}\n`)
  else await show(output, options)
}

/** Prints every record of a list: one per line, or as one array. */
async function printAll(client: Client, { id, paging }: Command, input: object, options: GlobalOptions): Promise<void> {
  const list = client.page<unknown, unknown>(id, input, {}, paging!)
  if (!options.ndjson) return await show(await list.all(), options)
  for await (const record of list) await print(`${json(record, false)}\n`)
}

/** A terminal shows lists as tables, unless `--json` is set. */
async function show(output: unknown, options: GlobalOptions): Promise<void> {
  const list = process.stdout.isTTY && !options.json ? (await import('./listing.ts')).listing(output) : null
  await print(list ?? `${json(output)}\n`)
}

async function dryRun(client: Client, { id, tier }: Command, input: object): Promise<object> {
  const request = { operation: id, method: 'POST', url: `${client.baseUrl}/v1/op/${id}`, input }
  if (tier !== 'external_spend') return { dry_run: true, ...request }
  const { priceOf } = await import('../../client/src/generated/prices.ts')
  return { dry_run: true, price: await priceOf((operation, fields) => client.call(operation, fields, {}, 'read'), id, input), ...request }
}

async function save(response: Response, file: string | null, { quiet }: GlobalOptions): Promise<void> {
  const type = response.headers.get('content-type') ?? ''
  const isText = /xml|json|text/.test(type)
  if (file === null && process.stdout.isTTY && !isText)
    throw new UsageError(`A terminal cannot show ${type}`, 'Write it to a file with --output, or pipe it to a program')
  const { createWriteStream } = await import('node:fs')
  const { Readable } = await import('node:stream')
  const { pipeline } = await import('node:stream/promises')
  const body = Readable.fromWeb(response.body as never)
  if (file === null || file === '-') return await pipeline(body, process.stdout, { end: false })
  await pipeline(body, createWriteStream(file))
  note(`Wrote ${file} (${type})`, quiet)
}
