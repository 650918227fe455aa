import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import convert from '#domains/uploads/convert.task.ts'
import { campaign, everyNth } from './support/campaign.ts'
import { tileAt } from './support/scene.ts'
import { world } from './support/world.ts'

const FOLDER = path.join(import.meta.dirname, '../../shared/data/cogs')

// Goal: real files of many makers become items with bands, footprint, statistics and a profile that draws, or are refused
// with a sentence that says why.
test('real files', { skip: existsSync(FOLDER) ? false : 'the collection of real files is not beside this checkout' }, async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { key: token } = await w.key(org.owner.token, ['write'])
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.tif'))
  assert.ok(names.length > 10)
  for (const name of everyNth(names, campaign({ short: 4, long: 1 }))) {
    const { status, body } = await w.upload(token, org.projectId, { [name]: readFileSync(path.join(FOLDER, name)) })
    if (status === 422) {
      t.diagnostic(`${name}: refused: ${body.detail}`)
      assert.match(body.detail, new RegExp(`^${name.replaceAll('.', '\\.')}: .{20,}`))
      continue
    }
    assert.equal(status, 200, `${name}: ${JSON.stringify(body)}`)
    const converted = await w.drain(convert)
    const {
      files: [file],
    } = await w.ok(token, 'uploads.progress', { upload_id: body.id })
    assert.equal(file.state, 'ready', `${name}: ${file.error}`)
    const [item_id] = body.item_ids
    const { item } = await w.ok(token, 'items.get', { item_id })
    const [asset] = await w.ok(token, 'items.list_assets', { item_id })
    const [profile] = await w.ok(token, 'visualization.profiles.list', { item_id })
    const { raster } = await w.db.selectFrom('asset').select('raster').where('id', '=', asset.id).executeTakeFirstOrThrow()
    const facts = raster as unknown as {
      width: number
      height: number
      data_type: string
      epsg: number | null
      bands: { statistics: { p2: number; p98: number; valid_percent: number } | null }[]
    }
    const [west, south, east, north] = item.bbox
    const middle = [west > east ? (((west + east + 360) / 2 + 540) % 360) - 180 : (west + east) / 2, (south + north) / 2] as const
    const zoom = Math.min(22, Math.max(0, Math.floor(Math.log2(360 / ((east - west + 360) % 360 || 360)))))
    const tile = await w.call(token, 'items.tile.render', { item_id, ...tileAt(...middle, zoom), format: 'png' })
    assert.equal(tile.status, 200, `${name}: ${tile.bytes.toString().slice(0, 200)}`)
    const first = facts.bands[0]!.statistics
    t.diagnostic(
      `${name}: ${facts.width}x${facts.height} ${facts.data_type} EPSG:${facts.epsg} ` +
        `${converted ? 'converted' : 'as it is'}; ${item.geometry.type} ` +
        `[${item.bbox.map((value: number) => value.toFixed(3)).join(', ')}]; gsd ${item.gsd} m; bands ` +
        `${asset.band_names.join(',')}; p2..p98 ${first?.p2}..${first?.p98}, ${first?.valid_percent}% valid; ` +
        `'${profile.name}' ${JSON.stringify(profile.config)}; tile ${tile.bytes.length} bytes`,
    )
    assert.ok(item.gsd > 0 && asset.band_names.length === facts.bands.length && profile.is_default, name)
  }
})
