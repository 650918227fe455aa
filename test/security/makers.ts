/** Things that a row's call is about, made through the interface, and the same call about things that do not exist. */
import { newId } from '#core/ids.ts'
import { scene } from '../support/scene.ts'
import type { Org, World } from '../support/world.ts'

/** A host that nobody allowed. */
export const ELSEWHERE = 'https://elsewhere.example/a.tif'

/** One value a world and key, made when it is first asked for. */
function once<T>(make: (w: World, org?: Org) => Promise<T>): (w: World, org?: Org) => Promise<T> {
  const memo = new WeakMap<World, Map<string, Promise<T>>>()
  return (w, org) => {
    if (!memo.has(w)) memo.set(w, new Map())
    const ofWorld = memo.get(w)!
    const key = org?.id ?? ''
    if (!ofWorld.has(key)) ofWorld.set(key, make(w, org))
    return ofWorld.get(key)!
  }
}

/** A member of the organization, the same one for all. */
export const colleague: (w: World, org: Org) => Promise<string> = once(async (w, org) => (await w.member(org!)).id)

/** A raster that change detection computed from an item and itself. */
export const computedRaster: (w: World, org: Org) => Promise<{ result_id: string }> = once(async (w, org) => {
  const file = await scene({ width: 20, height: 20, bandNames: ['gray'], dataType: 'uint8' })
  const { body } = await w.upload(org!.owner.token, org!.projectId, { 'scene.tif': file })
  const ring = [
    [151, -33.01],
    [151.01, -33.01],
    [151.01, -33],
    [151, -33.01],
  ]
  const [itemId] = body.item_ids as [string]
  const { raster } = await w.ok(org!.owner.token, 'analytics.execute', {
    operation: 'change_detection',
    params: { before_item_id: itemId, after_item_id: itemId, geometry: { type: 'Polygon', coordinates: [ring] }, expression: 'b1' },
  })
  return { result_id: new URL(raster.tile_template as string).pathname.split('/')[4]! }
})

/** What is charged needs a card. */
export const cardOnFile: (w: World, org: Org) => Promise<object> = once(async (w, org) => await card(w, org!))

export const card = async (w: World, org: Org) => ({
  payment_method_row_id: (await w.ok(org.owner.token, 'payment_methods.attach', { payment_method_id: 'pm_card_visa' })).id as string,
})

/** Worlds of these tests let files on it be downloaded by reference. */
export const OPEN_HOST = 'files.example'

export const project = async (w: World, org: Org) => ({
  project_id: (await w.ok(org.owner.token, 'projects.create', { name: 'Target' })).id as string,
})

export const item = async (w: World, org: Org) => ({
  item_id: (
    await w.ok(org.owner.token, 'items.create', {
      project_id: org.projectId,
      type: 'user_raster',
      name: 'Target',
      assets: [
        { key: 'data', href: 'https://data.example/a.tif' },
        { key: 'more', href: 'https://data.example/b.tif' },
        { key: 'open', href: `https://${OPEN_HOST}/c.tif` },
      ],
    })
  ).id as string,
})

export const collection = async (w: World, org: Org) => ({
  collection_id: (await w.ok(org.owner.token, 'collections.create', { project_id: org.projectId, name: 'Target' })).id as string,
})

const months = new WeakMap<World, number>()
/** A settled month that no other row uses. */
export const settledMonth = async (w: World, org: Org) => {
  const nth = (months.get(w) ?? 0) + 1
  months.set(w, nth)
  const [at, period, id] = [w.clock.now(), `${1900 + Math.floor(nth / 12)}-${String((nth % 12) + 1).padStart(2, '0')}`, newId()]
  await w.db
    .insertInto('invoice')
    .values({
      id,
      org_id: org.id,
      number: id,
      period,
      status: 'open',
      lines: '[]',
      commitments: '[]',
      customer: JSON.stringify({ name: 'x', abn: null, tax_number: null, billing_email: null, billing_address: null }),
      subtotal_cents: 100,
      gst_cents: 0,
      total_cents: 100,
      due_cents: 100,
      issued_at: at,
      due_at: at,
    })
    .execute()
  return { id, period }
}

/** The same input with an id in it that nothing has. */
export const other =
  (name: string) =>
  (input: object): object => ({ ...input, [name]: newId() })

export const otherProject = other('project_id')
export const otherItem = other('item_id')
export const otherCollection = other('collection_id')
export const otherResult = other('result_id')
export const otherOrganization = other('organization_id')
export const ofOrganization = (_w: World, org: Org) => ({ organization_id: org.id })
