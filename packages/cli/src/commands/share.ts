import { randomBytes } from 'node:crypto'
import type { Client } from '../../../client/src/core.ts'
import { accountOf, connect } from '../config.ts'
import { UsageError } from '../failure.ts'
import { readFlags, type GlobalOptions, type Run } from '../options.ts'
import { json, note, print } from '../terminal.ts'

const DAY_MS = 86_400_000
const PASSWORD_BYTES = 12
const MAX_KEY_NAME = 100

export const share: Run = async (rest, options) => {
  const { values, switches, positions } = readFlags(rest, {
    values: ['password', 'days'],
    switches: ['collection', 'download', 'public'],
    positions: 1,
  })
  const [target] = positions
  if (target === undefined) throw new UsageError('Specify an item', 'groundtrack share ITEM')
  const days = Number(values['days'] ?? 30)
  if (!(days > 0)) throw new UsageError('--days must be greater than 0')
  const isPublic = switches.has('public')
  if (isPublic && values['password'] !== undefined) throw new UsageError('--public and --password exclude each other')
  const password = isPublic ? null : (values['password'] ?? randomBytes(PASSWORD_BYTES).toString('base64url'))
  const input = {
    target_type: switches.has('collection') ? 'collection' : 'item',
    target_id: target,
    permission: switches.has('download') ? 'download' : 'view',
    ...(password === null ? { is_public: true } : { password }),
    expires_at: new Date(Date.now() + days * DAY_MS).toISOString(),
  }
  const client = connect(options)
  if (options.dryRun)
    return await print(
      `${json({ dry_run: true, operation: 'share.link.create', input: password === null ? input : { ...input, password: '…' } })}\n`,
    )
  const link = await client.call<{ id: string; token: string; expires_at: string }>('share.link.create', input)
  const url = `${client.baseUrl}/s/${link.token}`
  if (options.json || !process.stdout.isTTY) return await print(`${json({ id: link.id, url, password, expires_at: link.expires_at })}\n`)
  await print(`${url}\n`)
  const opens = password === null ? 'Public:   anyone with the link can open it' : `Password: ${password}`
  note(`${opens}\nExpires:  ${link.expires_at}\nRevoke:   groundtrack share link revoke --link-id ${link.id}`)
}

/** A separate key, because the map exposes it; it can be revoked without breaking anything else. */
async function createKey(client: Client, item: string, options: GlobalOptions): Promise<string | null> {
  const input = { name: `Map of ${item}`.slice(0, MAX_KEY_NAME), permissions: ['read'] }
  if (options.dryRun) {
    note(`Would create a read-only key named "${input.name}"`, options.quiet)
    return null
  }
  const { id, key } = await client.call<{ id: string; key: string }>('api_keys.create', input)
  note(`Created a read-only key named "${input.name}". Revoke it with: groundtrack api-keys revoke --key-id ${id}`, options.quiet)
  return key
}

export const tiles: Run = async (rest, options) => {
  const { values, switches, positions } = readFlags(rest, {
    values: ['format', 'style'],
    switches: ['with-key', 'create-key'],
    positions: 2,
  })
  const [verb, item] = positions
  if (verb !== 'url' || item === undefined) throw new UsageError('Specify an item', 'groundtrack tiles url ITEM')
  const { apiKey } = accountOf(options)
  if (switches.has('with-key') && !apiKey) throw new UsageError('This account has no API key', 'Use --create-key to create a read-only key')
  const client = connect(options)
  // This also fails if the item does not exist.
  const { name, tiles: urls } = await client.call<{ name: string; tiles: string[] }>(
    'items.tile.tilejson',
    { item_id: item, ...(values['style'] ? { profile: values['style'] } : {}) },
    {},
    'read',
  )
  const url = new URL(urls[0]!.replaceAll('{', '%7B').replaceAll('}', '%7D'))
  url.pathname = url.pathname.replace(/\.\w+$/, `.${values['format'] ?? 'webp'}`)
  const key = switches.has('create-key') ? await createKey(client, name, options) : switches.has('with-key') ? apiKey! : null
  if (key !== null) url.searchParams.set('key', key)
  else
    note(
      `Without a key this URL returns 401 in a map client. --create-key adds a new read-only key${apiKey ? ', --with-key your own' : ''}.`,
      options.quiet,
    )
  await print(`${url.href.replaceAll('%7B', '{').replaceAll('%7D', '}')}\n`)
}
