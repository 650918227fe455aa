import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesOf } from './delivery.ts'

const ID = '20240909_021318_75_24ee'
const entry = (path: string, assetType?: string, itemId: string | null = ID) => ({
  path,
  media_type: path.endsWith('.tif') ? 'image/tiff' : null,
  size: 10,
  digests: { md5: 'AB'.repeat(16), sha256: 'CD'.repeat(32) },
  annotations: {
    ...(assetType === undefined ? {} : { 'planet/asset_type': assetType }),
    ...(itemId === null ? {} : { 'planet/item_id': itemId }),
  },
})
const read = (files: ReturnType<typeof entry>[], ids = [ID]) =>
  filesOf('order', { files }, ids, new Map()).map(({ assetKey, role, sceneId }) => [assetKey, role, sceneId])

// Goal: every file of a delivery gets its scene, a role and a key that is unique in its item, whatever the manifest leaves out.
test('files of a manifest', async (t) => {
  await t.test('by their annotations', () => {
    const files = [
      entry(`PSScene/${ID}_3B_AnalyticMS_SR_8b_clip_file_format.tif`, 'ortho_analytic_8b_sr'),
      entry(`PSScene/${ID}_3B_udm2_clip_file_format.tif`, 'ortho_udm2'),
      entry(`PSScene/${ID}_3B_AnalyticMS_metadata_8b_clip.xml`, 'ortho_analytic_8b_xml'),
      entry(`PSScene/${ID}_metadata.json`),
    ]
    assert.deepEqual(read(files), [
      ['data', 'data', ID],
      ['udm2', 'mask', ID],
      ['ortho_analytic_8b_xml', 'metadata', ID],
      ['metadata', 'metadata', ID],
    ])
    const [image, mask] = filesOf('order', { files }, [ID], new Map())
    assert.deepEqual([image!.id, image!.bands.length, mask!.bands[5]!.name], [`order/${files[0]!.path}`, 8, 'cloud'])
    assert.deepEqual([image!.md5, image!.sha256, image!.mediaType], ['ab'.repeat(16), 'cd'.repeat(32), 'image/tiff'])
  })

  await t.test('by their names, if there are no annotations', () => {
    const names = [
      `${ID}_3B_Visual.tif`,
      `${ID}_3B_udm2.tif`,
      `${ID}_3B_udm.tif`,
      `${ID}_metadata.json`,
      `${ID}_rpc.TXT`,
      `${ID}_thumb.png`,
    ]
    const files = names.map((name) => entry(`PSScene/${name}`, undefined, null))
    assert.deepEqual(
      read(files).map(([key, role]) => [key, role]),
      [
        ['data', 'data'],
        ['udm2', 'mask'],
        ['udm', 'mask'],
        ['metadata', 'metadata'],
        ['metadata-txt', 'metadata'],
        ['overview', 'overview'],
      ],
    )
  })

  await t.test('several images and masks keep the names of the vendor', () => {
    const types = ['ortho_analytic', 'ortho_panchromatic', 'ortho_analytic_udm2', 'ortho_panchromatic_udm2']
    assert.deepEqual(
      read(types.map((type) => entry(`SkySatCollect/${ID}_${type}.tif`, type))).map(([key]) => key),
      types,
    )
    const same = [entry(`a/${ID}_1.json`), entry(`b/${ID}_1.json`)]
    assert.equal(new Set(read(same).map(([key]) => key)).size, 2)
  })

  await t.test('files of no scene are left out, and those of another scene are named', () => {
    assert.deepEqual(read([entry('manifest.json', undefined, null), entry('PSScene/catalog.json', undefined, null)]), [])
    assert.deepEqual(read([entry('PSScene/x.tif', 'ortho_visual', 'another')]), [['data', 'data', 'another']])
    const long = `${ID}_2`
    assert.deepEqual(read([entry(`PSScene/${long}_3B_Visual.tif`, undefined, null)], [ID, long]), [['data', 'data', long]])
  })
})
