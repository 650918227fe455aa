import { connect } from '../config.ts'
import { EXIT } from '../failure.ts'
import { readFlags, type Run } from '../options.ts'
import { note } from '../terminal.ts'
import { bridge } from '../bridge.ts'

/** Tools for agents. The service itself makes them; here its `/mcp` is only spoken over stdio, with the account's credential. */
export const run: Run = async (rest, options) => {
  const { values, switches } = readFlags(rest, { values: ['tools'], switches: ['write', 'spend'], positions: 0 })
  const query = new URLSearchParams()
  if (values['tools']) query.set('tools', values['tools'])
  if (switches.has('write') || switches.has('spend')) query.set('write', '1')
  if (switches.has('spend')) query.set('spend', '1')
  const search = query.toString()
  if (process.stdin.isTTY)
    note('This speaks JSON-RPC on stdin and stdout: name it as the command of an MCP server in your agent', options.quiet)
  await bridge(connect(options), `/mcp${search ? `?${search}` : ''}`)
  return EXIT.ok
}
