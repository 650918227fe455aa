import assert from 'node:assert/strict'
import { test } from 'node:test'
import { striped } from '../../../test/support/tiff.ts'
import { world } from '../../../test/support/world.ts'

// Goal: the metadata of a file become those of its item: acquisition time and position accuracy.
test('an uploaded file provides its time and a note on its position', async (t) => {
  const w = await world(t)
  const { owner, projectId } = await w.organization()
  const small = { width: 64, height: 48, rowsPerStrip: 48 }
  const itemOf = async (name: string, bytes: Uint8Array) => {
    const { status, body } = await w.upload(owner.token, projectId, { [name]: bytes })
    assert.equal(status, 200, JSON.stringify(body))
    return (await w.ok(owner.token, 'items.get', { item_id: body.item_ids[0] })).item
  }

  const dated = await itemOf('dated.tif', striped({ ...small, takenAt: '2024:02:03 04:05:06' }))
  assert.equal(dated.datetime, '2024-02-03T04:05:06.000Z')
  assert.equal(dated.properties.position_note, undefined, 'nothing is wrong with WGS 84')
  const results = await w.ok(owner.token, 'items.search', { project_id: projectId, datetime: '2024-02-03T00:00:00Z/2024-02-04T00:00:00Z' })
  assert.deepEqual([results.numberMatched, results.features[0].properties['svc:item_id']], [1, dated.id])

  const undated = await itemOf('undated.tif', striped({ ...small, takenAt: 'yesterday' }))
  assert.equal(undated.datetime, null)

  // NAD27 is accurate to a few metres only with grid shift files, which we do not have.
  const old = await itemOf('old.tif', striped({ ...small, west: -100, north: 40, epsg: 4267 }))
  assert.match(old.properties.position_note, /\d m/)

  // GDA94 equals WGS 84 within 3 m: irrelevant for 100 m pixels, worth a note for 10 cm pixels.
  const coarse = await itemOf('coarse.tif', striped({ ...small, west: 145, north: -37, degrees: 0.001, epsg: 4283 }))
  assert.equal(coarse.properties.position_note, undefined)
  const fine = await itemOf('fine.tif', striped({ ...small, west: 145, north: -37, degrees: 0.000001, epsg: 4283 }))
  assert.match(fine.properties.position_note, /GDA94 is accurate to about 3 m on WGS 84, which is more than a pixel of 0\.099 m/)
})
