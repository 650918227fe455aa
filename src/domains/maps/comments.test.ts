import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newId } from '#core/ids.ts'
import * as users from '#model/identity/user.ts'
import { MAX_PER_MAP } from '#model/imagery/map-comment.ts'
import { world, type Person } from '../../../test/support/world.ts'

const POINT = { type: 'Point', coordinates: [151.1, -33.1] }
const HOSTILE = '<img src=x onerror=alert(1)>'

interface Comment {
  id: string
  text: string
}

// Goal: whoever can read a project comments on its maps and annotations; texts are changed by their authors alone, resolved by editors
// and deleted by authors and admins; the others in the conversation are told, as long as they can read it; comments end with the map.
test('maps.comments', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const editor = await w.member(org, 'editor')
  const viewer = await w.member(org, 'viewer')
  const other = await w.member(org, 'viewer')
  const newMap = async (project_id = org.projectId, who = editor) =>
    await w.ok(who.token, 'maps.create', { project_id, name: 'Bay', annotations: [{ geometry: POINT, text: 'Jetty' }] })
  const write = (who: string, map_id: string, input: object = {}) =>
    w.call(who, 'maps.comments.create', { map_id, text: 'Is this new?', ...input })
  const change = (who: string, { id, map_id }: { id: string; map_id: string }, input: object) =>
    w.call(who, 'maps.comments.update', { map_id, comment_id: id, ...input })
  const remove = (who: string, { id, map_id }: { id: string; map_id: string }) =>
    w.call(who, 'maps.comments.delete', { map_id, comment_id: id })
  const list = (who: string, map_id: string, input: object = {}) => w.ok(who, 'maps.comments.list', { map_id, ...input })
  const textsOf = ({ comments }: { comments: Comment[] }) => comments.map(({ text }) => text)
  const inbox = async ({ token: whose }: Person) =>
    ((await w.ok(whose, 'notifications.list')) as { kind: string; title: string; body: string }[]).filter(({ kind }) => kind === 'comment')

  await t.test('a viewer comments on the map and on an annotation; texts come back as they were written', async () => {
    const map = await newMap()
    const { status, body } = await write(viewer.token, map.id, { text: `  ${HOSTILE}\nand more ` })
    assert.equal(status, 200, JSON.stringify(body))
    const { name } = await w.db.selectFrom('app_user').select('name').where('id', '=', viewer.id).executeTakeFirstOrThrow()
    assert.deepEqual(
      { ...body, id: '' },
      {
        id: '',
        map_id: map.id,
        annotation_id: null,
        text: `${HOSTILE}\nand more`,
        author_id: viewer.id,
        author_name: name,
        created_at: w.clock.now().toISOString(),
        edited_at: null,
        resolved: false,
        resolved_at: null,
      },
    )
    w.clock.advance({ minutes: 1 })
    const annotation_id = map.annotations[0].id as string
    const { body: second } = await write(editor.token, map.id, { annotation_id: annotation_id.toUpperCase(), text: 'It is' })
    assert.equal(second.annotation_id, annotation_id)
    const all = await list(other.token, map.id)
    assert.deepEqual([all.comments, all.count, all.total], [[second, body], 2, 2], 'newest first')
    assert.deepEqual(textsOf(await list(other.token, map.id, { annotation_id })), ['It is'])
    const page = await list(other.token, map.id, { limit: 1, offset: 1 })
    assert.deepEqual([page.comments, page.count, page.total], [[body], 1, 2])
  })

  await t.test('a comment stays when its annotation is removed', async () => {
    const map = await newMap()
    const annotation_id = map.annotations[0].id as string
    await write(viewer.token, map.id, { annotation_id })
    await w.ok(editor.token, 'maps.update', { map_id: map.id, annotations: [] })
    assert.equal((await list(token, map.id)).comments[0].annotation_id, annotation_id)
    assert.equal((await write(viewer.token, map.id, { annotation_id })).status, 422, 'it takes no more comments')
  })

  await t.test('only its author changes the text, and only editors resolve it', async () => {
    const map = await newMap()
    const { body: comment } = await write(viewer.token, map.id)
    for (const who of [other.token, editor.token, token]) assert.equal((await change(who, comment, { text: 'Mine' })).status, 403)
    assert.equal((await change(viewer.token, comment, { resolved: true })).status, 403, 'the author is no editor')
    assert.equal((await change(viewer.token, comment, { text: 'Mine', resolved: true })).status, 403)
    assert.equal((await change(viewer.token, comment, {})).status, 400)
    w.clock.advance({ minutes: 1 })
    const edited = await change(viewer.token, comment, { text: ' Was it there in May? ' })
    const at = w.clock.now().toISOString()
    assert.deepEqual([edited.status, edited.body.text, edited.body.edited_at], [200, 'Was it there in May?', at])
    const resolved = await change(editor.token, comment, { resolved: true })
    assert.deepEqual([resolved.status, resolved.body.resolved, resolved.body.resolved_at], [200, true, at])
    w.clock.advance({ minutes: 1 })
    assert.equal((await change(editor.token, comment, { resolved: true })).body.resolved_at, at, 'it was resolved before')
    await write(viewer.token, map.id, { text: 'Open' })
    assert.deepEqual(textsOf(await list(viewer.token, map.id, { resolved: false })), ['Open'])
    assert.deepEqual(textsOf(await list(viewer.token, map.id, { resolved: true })), ['Was it there in May?'])
    const { maps } = await w.ok(viewer.token, 'maps.list', { project_id: org.projectId, limit: 200 })
    const summary = maps.find(({ id }: { id: string }) => id === map.id)
    assert.deepEqual([summary.comment_count, summary.open_comment_count], [2, 1])
    const reopened = await change(token, comment, { resolved: false })
    assert.deepEqual([reopened.body.resolved, reopened.body.resolved_at], [false, null])
  })

  await t.test('its author and admins of the project delete it', async () => {
    const map = await newMap()
    const { body: first } = await write(viewer.token, map.id)
    const { body: second } = await write(viewer.token, map.id)
    for (const who of [other.token, editor.token]) assert.equal((await remove(who, first)).status, 403)
    assert.deepEqual((await remove(viewer.token, first)).body, { ok: true, id: first.id })
    assert.equal((await remove(token, second)).status, 200)
    assert.equal((await remove(token, second)).status, 404)
    assert.equal((await list(token, map.id)).total, 0)
  })

  await t.test('nobody outside the project reads or writes one, and a comment is found on its own map only', async () => {
    const hidden = await w.ok(token, 'projects.create', { name: 'Hidden', visibility: 'private' })
    const map = await newMap(hidden.id, org.owner)
    const { body: comment } = await write(token, map.id)
    const stranger = await w.organization()
    for (const [who, expected] of [[viewer.token, 403], [stranger.owner.token, 404]] as const) {
      assert.equal((await write(who, map.id)).status, expected)
      assert.equal((await w.call(who, 'maps.comments.list', { map_id: map.id })).status, expected)
      assert.equal((await change(who, comment, { resolved: true })).status, expected)
      assert.equal((await remove(who, comment)).status, expected)
    } // prettier-ignore
    const open = await newMap()
    assert.equal((await change(token, { ...comment, map_id: open.id }, { resolved: true })).status, 404)
    assert.equal((await remove(token, { ...comment, map_id: open.id })).status, 404)
    const guest = await w.guest(hidden.id, 'viewer')
    assert.equal((await write(guest.token, map.id)).status, 200)
    assert.equal((await list(token, map.id)).total, 2)
  })

  await t.test('what is invalid is refused and changes nothing', async () => {
    const map = await newMap()
    const id = newId()
    const cases = [{ text: ' \n' }, { text: 'x'.repeat(2_001) }, { annotation_id: id }, { annotation_id: 'x' }, { author_id: id }]
    for (const input of cases) assert.equal((await write(viewer.token, map.id, input)).status, 422, JSON.stringify(input))
    assert.equal((await write(viewer.token, map.id, { text: 'x'.repeat(2_000) })).status, 200)
    assert.equal((await list(token, map.id)).total, 1)
  })

  await t.test('with a key: it has no author, so that only admins delete it and nobody changes its text', async () => {
    const map = await newMap()
    const { key } = await w.key(token, ['read', 'write'])
    const { body: comment } = await write(key, map.id)
    assert.deepEqual([comment.author_id, comment.author_name], [null, null])
    for (const who of [key, token, viewer.token]) assert.equal((await change(who, comment, { text: 'Mine' })).status, 403)
    assert.equal((await remove(viewer.token, comment)).status, 403)
    assert.equal((await remove(token, comment)).status, 200)
  })

  await t.test('the creator of the map and others who commented are notified, as long as they can read it', async () => {
    const project = await w.ok(token, 'projects.create', { name: 'Team', visibility: 'private' })
    const people = await Promise.all(['editor', 'viewer', 'viewer', 'viewer'].map((role) => w.guest(project.id, role as 'viewer')))
    const [creator, author, reader, leaver] = people as [Person, Person, Person, Person]
    const map = await newMap(project.id, creator)
    await write(leaver.token, map.id, { text: 'First' })
    assert.deepEqual(
      (await inbox(creator)).map(({ body }) => body),
      ['First'],
    )
    assert.equal((await inbox(leaver)).length, 0, 'not the author')
    await w.ok(token, 'projects.remove_member', { project_id: project.id, user_id: leaver.id })
    w.clock.advance({ minutes: 1 })
    await write(author.token, map.id, { text: `${'𝒳'.repeat(299)}yz` })
    const [news, ...rest] = await inbox(creator)
    const { name } = await w.db.selectFrom('app_user').select('name').where('id', '=', author.id).executeTakeFirstOrThrow()
    assert.deepEqual([news!.title, news!.body, rest.length], [`${name} commented on Bay`, `${'𝒳'.repeat(299)}y…`, 1])
    assert.equal((await inbox(leaver)).length, 0, 'who left the project learns nothing')
    await write(creator.token, map.id, { text: 'Thanks' })
    assert.deepEqual(
      (await inbox(author)).map(({ body }) => body),
      ['Thanks'],
    )
    assert.deepEqual([(await inbox(creator)).length, (await inbox(reader)).length], [2, 0], 'readers who said nothing are left alone')
  })

  await t.test('an archived project takes no comments, but shows them', async () => {
    const project = await w.ok(token, 'projects.create', { name: 'Closed' })
    const map = await newMap(project.id, org.owner)
    const { body: comment } = await write(token, map.id)
    await w.ok(token, 'projects.archive', { project_id: project.id })
    const statuses = [await write(token, map.id), await change(token, comment, { text: 'x' }), await remove(token, comment)]
    assert.deepEqual(
      statuses.map(({ status }) => status),
      [400, 400, 400],
    )
    assert.equal((await list(token, map.id)).total, 1)
  })

  await t.test('they end with the map and with the project', async () => {
    const project = await w.ok(token, 'projects.create', { name: 'Short' })
    const [first, second] = [await newMap(), await newMap(project.id, org.owner)]
    for (const { id } of [first, second]) assert.equal((await write(token, id)).status, 200)
    await w.ok(token, 'maps.delete', { map_id: first.id })
    await w.ok(token, 'projects.delete', { project_id: project.id })
    assert.equal((await w.call(token, 'maps.comments.list', { map_id: first.id })).status, 404)
    const left = await w.db.selectFrom('map_comment').select('id').where('map_id', 'in', [first.id, second.id]).execute()
    assert.equal(left.length, 0)
  })

  await t.test('the name of somebody who deleted their account is gone', async () => {
    const map = await newMap()
    const passing = await w.member(org, 'viewer')
    await write(passing.token, map.id)
    await w.db.transaction().execute((tx) => users.erase(tx, passing.id))
    assert.equal((await list(token, map.id)).comments[0].author_name, 'Deleted person')
  })

  await t.test('their number is limited, also for those who write at once', async () => {
    const map = await newMap()
    const row = { org_id: org.id, map_id: map.id as string, text: 'x', created_at: w.clock.now() }
    await w.db
      .insertInto('map_comment')
      .values(Array.from({ length: MAX_PER_MAP - 1 }, () => ({ ...row, id: newId() })))
      .execute()
    const both = await Promise.all([write(viewer.token, map.id), write(other.token, map.id)])
    assert.deepEqual(both.map(({ status }) => status).toSorted(), [200, 400])
    const { status, body } = await write(token, map.id)
    assert.deepEqual([status, body.used, body.limit], [400, MAX_PER_MAP, MAX_PER_MAP])
  })
})
