import { readFileSync } from 'node:fs'
import { summaries } from '../catalogue.ts'
import { connect } from '../config.ts'
import { UsageError } from '../failure.ts'
import { invoke } from '../invoke.ts'
import { readFlags, type Run } from '../options.ts'
import { json, print } from '../terminal.ts'

/** Calls any operation by its ID. Operator operations are not in the published contract, so they have no command of their own. */
export const run: Run = async (rest, options) => {
  const { positions } = readFlags(rest, { positions: 2 })
  const [id, input = '{}'] = positions
  if (id === undefined) throw new UsageError('Specify an operation', 'groundtrack call items.list_expiring')
  if (id in summaries()) return await invoke(id, [{ name: 'body', value: input }], options)
  const client = connect(options)
  const body = inputOf(input)
  if (options.dryRun) return await print(`${json({ dry_run: true, operation: id, url: `${client.baseUrl}/v1/op/${id}`, input: body })}\n`)
  await print(`${json(await client.call(id, body))}\n`)
}

function inputOf(text: string): object {
  try {
    const value: unknown = JSON.parse(
      text === '-' ? readFileSync(0, 'utf8') : text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text,
    )
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Invalid JSON gives the same error as JSON that is not an object.
  }
  throw new UsageError('The input must be a JSON object, @file or - for stdin')
}
