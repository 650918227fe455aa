import { randomBytes } from 'node:crypto'
import { accountOf, connect } from '../config.ts'
import { UsageError } from '../failure.ts'
import { readFlags, type Run } from '../options.ts'
import { json, note, print } from '../terminal.ts'

const DAY_MS = 86_400_000
const PASSWORD_BYTES = 12

export const share: Run = async (rest, options) => {
  const { values, switches, positions } = readFlags(rest, {
    values: ['password', 'days'],
    switches: ['collection', 'download'],
    positions: 1,
  })
  const [target] = positions
  if (target === undefined) throw new UsageError('Name the item', 'groundtrack share ITEM')
  const days = Number(values['days'] ?? 30)
  if (!(days > 0)) throw new UsageError('--days must be a number above 0')
  const password = values['password'] ?? randomBytes(PASSWORD_BYTES).toString('base64url')
  const input = {
    target_type: switches.has('collection') ? 'collection' : 'item',
    target_id: target,
    permission: switches.has('download') ? 'download' : 'view',
    password,
    expires_at: new Date(Date.now() + days * DAY_MS).toISOString(),
  }
  const client = connect(options)
  if (options.dryRun) return await print(`${json({ dry_run: true, operation: 'share.link.create', input: { ...input, password: '…' } })}\n`)
  const link = await client.call<{ id: string; token: string; expires_at: string }>('share.link.create', input)
  const url = `${client.baseUrl}/s/${link.token}`
  if (options.json || !process.stdout.isTTY) return await print(`${json({ id: link.id, url, password, expires_at: link.expires_at })}\n`)
  await print(`${url}\n`)
  note(`Password: ${password}\nUntil:    ${link.expires_at}\nRevoke:   groundtrack share link revoke --link-id ${link.id}`)
}

export const tiles: Run = async (rest, options) => {
  const { values, switches, positions } = readFlags(rest, { values: ['format', 'look'], switches: ['with-key'], positions: 2 })
  const [verb, item] = positions
  if (verb !== 'url' || item === undefined) throw new UsageError('Name the item', 'groundtrack tiles url ITEM')
  const { apiKey } = accountOf(options)
  if (switches.has('with-key') && !apiKey)
    throw new UsageError('This account has no API key', 'Make one: groundtrack api-keys create --name maps --permissions read')
  const client = connect(options)
  // Asking for the document also shows that the item is there.
  const { tiles: addresses } = await client.call<{ tiles: string[] }>(
    'items.tile.tilejson',
    { item_id: item, ...(values['look'] ? { profile: values['look'] } : {}) },
    {},
    'read',
  )
  const url = new URL(addresses[0]!.replaceAll('{', '%7B').replaceAll('}', '%7D'))
  url.pathname = url.pathname.replace(/\.\w+$/, `.${values['format'] ?? 'webp'}`)
  if (switches.has('with-key')) url.searchParams.set('key', apiKey!)
  await print(`${url.href.replaceAll('%7B', '{').replaceAll('%7D', '}')}\n`)
}
