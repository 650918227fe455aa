import type { Org, World } from '../../support/world.ts'
import { item, other, otherProject } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { CHANGES_A_PROJECT, NOBODY, VISITORS, allowedBut422 } from '../statuses.ts'

/** A link to an item whose file lies on a host that nobody allowed. */
const link = async (w: World, org: Org) => {
  const { item_id } = await item(w, org)
  const { id, token } = await w.ok(org.owner.token, 'share.link.create', {
    target_type: 'item',
    target_id: item_id,
    permission: 'download',
    password: 'coral and sand',
    expires_at: '2040-01-01T00:00:00Z',
  })
  const assets = (await w.ok(org.owner.token, 'items.list_assets', { item_id })) as { id: string; key: string }[]
  const asset_id = assets.find(({ key }) => key === 'open')!.id
  return { link_id: id as string, opens: { token: token as string, password: 'coral and sand' }, asset_id }
}
/** The same without a password. */
const publicLink = async (w: World, org: Org) => {
  const { item_id } = await item(w, org)
  await w.ok(org.owner.token, 'organizations.set_public_links', { allowed: true })
  const input = { target_type: 'item', target_id: item_id, is_public: true, expires_at: '2040-01-01T00:00:00Z' }
  return { token: (await w.ok(org.owner.token, 'share.link.create', input)).token as string }
}
const TOLD_OF_THE_HOST = { a: allowedBut422(VISITORS.a) }

export const rows: Rows = {
  'share.asset.download': {
    ...VISITORS,
    input: async (w, org) => {
      const { opens, asset_id } = await link(w, org)
      return { ...opens, asset_id }
    },
    breaks: 'table egress_log',
  },
  'share.link.create': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({
      target_type: 'item',
      target_id: (await item(w, org)).item_id,
      password: 'coral and sand',
      expires_at: '2040-01-01T00:00:00Z',
    }),
    missing: other('target_id'),
    breaks: 'table share_link',
  },
  'share.link.revoke': {
    ...CHANGES_A_PROJECT,
    input: async (w, org) => ({ link_id: (await link(w, org)).link_id }),
    missing: other('link_id'),
    breaks: 'column share_link.revoked_at',
  },
  'share.link.validate': { ...VISITORS, input: async (w, org) => (await link(w, org)).opens, breaks: 'table share_link' },
  'share.links.list': {
    input: (_w, org) => ({ project_id: org.projectId }),
    missing: otherProject,
    a: `${NOBODY} | 200 200 403 403 | 404 404 | 200 200 200 | 403 200 200 404`,
    b: `${NOBODY} | 404 404 404 404 | 200 404 | 404 404 404 | 403 200 404 404`,
    breaks: 'table share_link',
  },
  'share.tile.render': {
    ...TOLD_OF_THE_HOST,
    input: async (w, org) => ({ ...(await link(w, org)).opens, z: 0, x: 0, y: 0 }),
    breaks: 'table asset',
  },
  'share.tilejson': { ...TOLD_OF_THE_HOST, input: async (w, org) => (await link(w, org)).opens, breaks: 'table asset' },
  'share.wmts_capabilities': { ...TOLD_OF_THE_HOST, input: publicLink, breaks: 'table asset' },
}
