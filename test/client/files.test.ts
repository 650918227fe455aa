// Goal: files of any size are uploaded whole: no Blob of Node's, which ends at 4 GiB, stands between a file and the wire.
import assert from 'node:assert/strict'
import { mkdtemp, open, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { openFile } from '../../packages/client/src/node.ts'

test('a file beyond 4 GiB keeps its size, any range of it is read, and one that became shorter is not padded', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'large-file-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'large.tif')
  const edge = 2 ** 32
  const handle = await open(file, 'w')
  await handle.truncate(edge + 1_000)
  await handle.write(Buffer.from('across'), 0, 6, edge - 3)
  await handle.close()
  const { data } = await openFile(file)
  assert.ok('read' in data)
  assert.deepEqual([data.size, Buffer.from(await data.read(edge - 3, edge + 3)).toString()], [edge + 1_000, 'across'])
  await truncate(file, edge)
  await assert.rejects(data.read(edge - 3, edge + 3), /became shorter/)
})
