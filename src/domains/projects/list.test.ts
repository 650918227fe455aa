import assert from 'node:assert/strict'
import { test } from 'node:test'
import { world } from '../../../test/support/world.ts'

// Goal: callers see the projects they have access to, newest first, in pages, with their own role.
test('projects.list', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const member = await w.member(org, 'viewer')
  const create = async (name: string, more: object = {}, token = org.owner.token) => (
    w.clock.advance({ seconds: 1 }),
    (await w.ok(token, 'projects.create', { name, ...more })).id as string
  )
  const secret = await create('secret', { visibility: 'private' })
  const archived = await create('archived')
  await w.ok(org.owner.token, 'projects.archive', { project_id: archived })
  const deleted = await create('deleted')
  await w.ok(org.owner.token, 'projects.delete', { project_id: deleted })
  const open = await create('open')
  const list = async (token: string, input: object = {}) => await w.ok(token, 'projects.list', input)
  const ids = ({ projects }: { projects: { id: string }[] }) => projects.map(({ id }) => id)

  await t.test('owners see all projects that are not deleted; archived ones on request', async () => {
    assert.deepEqual(ids(await list(org.owner.token)), [open, secret, org.projectId])
    assert.deepEqual(ids(await list(org.owner.token, { include_archived: true })), [open, archived, secret, org.projectId])
  })
  await t.test('members see open projects and their own, with their role if any', async () => {
    const seen = await list(member.token)
    assert.deepEqual(
      seen.projects.map(({ id, role }: { id: string; role: string }) => [id, role]),
      [
        [open, null],
        [org.projectId, 'viewer'],
      ],
    )
    assert.equal(seen.total, 2)
    await w.ok(org.owner.token, 'projects.add_member', { project_id: secret, user_id: member.id, role: 'editor' })
    assert.deepEqual(ids(await list(member.token)), [open, secret, org.projectId])
  })
  await t.test('guests see the project that invited them and their own', async () => {
    const other = await w.organization()
    await w.guest(secret, 'viewer', other.owner)
    assert.deepEqual(ids(await list(other.owner.token)).toSorted(), [secret, other.projectId].toSorted())
    const { key } = await w.key(other.owner.token)
    assert.deepEqual(ids(await list(key)), [other.projectId], 'a key stays at home')
  })
  await t.test('pages cover each project once, and the total counts all', async () => {
    const all = ids(await list(org.owner.token, { include_archived: true }))
    const pages: string[] = []
    for (let offset = 0; offset < all.length; offset += 2) {
      const page = await list(org.owner.token, { include_archived: true, limit: 2, offset })
      assert.equal(page.total, all.length)
      pages.push(...ids(page))
    }
    assert.deepEqual(pages, all)
    assert.deepEqual(ids(await list(org.owner.token, { offset: 100 })), [])
  })
  await t.test('without an organization there is nothing to list', async () =>
    assert.equal((await w.call((await w.person()).token, 'projects.list')).body.code, 'organization-required'),
  )
})
