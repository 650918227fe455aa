import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readRegistry } from '#adapters/vendors/registry.ts'
import { scene } from '../../../../test/support/scene.ts'
import { world } from '../../../../test/support/world.ts'

const TOKEN = '/realms/public/protocol/openid-connect/token'
const USER_INFO = '/realms/public/protocol/openid-connect/userinfo'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

// Goal: the password grant of OAuth signs in as /auth/sign-in does, with the same refusals, and names a project as the workspace.
test('sign-in of UP42 clients', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const sign = (fields: Record<string, string>, headers: Record<string, string> = FORM) =>
    w.request('POST', TOKEN, { headers, body: new URLSearchParams(fields).toString() })
  const own = { grant_type: 'password', username: org.owner.email, password: org.owner.password, client_id: 'up42-sdk', scope: 'openid' }
  const userInfo = async (token: string, query = '') =>
    await w.request('GET', `${USER_INFO}${query}`, { headers: { authorization: `Bearer ${token}` } })

  await t.test('returns a working token that must not be cached', async () => {
    const { status, body, headers } = await sign(own)
    assert.deepEqual([status, body.token_type, body.expires_in, headers.get('cache-control')], [200, 'Bearer', 900, 'no-store'])
    assert.deepEqual(Object.keys(body).toSorted(), ['access_token', 'expires_in', 'scope', 'token_type'])
    await w.ok(body.access_token, 'projects.list')
  })

  await t.test('failures are OAuth errors, and count as attempts', async () => {
    const refused = async (fields: Record<string, string>, headers?: Record<string, string>) => {
      const { status, body } = await sign(fields, headers)
      assert.equal(body.error_description, body.detail)
      return [status, body.error]
    }
    const { password: _password, ...incomplete } = own
    assert.deepEqual(await refused({ ...own, password: 'wrong' }), [401, 'invalid_grant'])
    assert.deepEqual(await refused({ ...own, username: 'nobody@example.com' }), [401, 'invalid_grant'])
    assert.deepEqual(await refused({ ...own, grant_type: 'client_credentials' }), [400, 'unsupported_grant_type'])
    assert.deepEqual(await refused(incomplete), [422, 'invalid_request'])
    assert.deepEqual(await refused({ ...own, username: 'a\0b@example.com' }), [422, 'invalid_request'])
    assert.deepEqual(await refused(own, { 'content-type': 'application/json' }), [415, 'invalid_request'])
    for (let guess = 0; guess < 10; guess++) await sign({ ...own, username: 'nobody@example.com' })
    assert.deepEqual(await refused({ ...own, username: 'nobody@example.com' }), [429, 'invalid_request'])
  })

  await t.test('the workspace is a project of the caller: the one named, or the oldest that they can change', async () => {
    const { token } = org.owner
    const other = await w.ok(token, 'projects.create', { name: 'Other' })
    assert.equal((await userInfo(token)).body.sub, org.projectId)
    assert.equal((await userInfo(token, `?workspaceId=${other.id}`)).body.sub, other.id)
    const stranger = await w.organization()
    assert.equal((await userInfo(stranger.owner.token, `?workspaceId=${other.id}`)).status, 404)
    assert.equal((await w.request('GET', USER_INFO)).status, 401)
  })
})

// Goal: through UP42's URLs, only callers who could use the operations change and delete items, and never partially.
test('assets of UP42 clients', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { token } = org.owner
  const editor = await w.member(org, 'editor')
  const viewer = await w.member(org, 'viewer')
  const stranger = await w.organization()
  const { id: collection } = await w.ok(token, 'collections.create', { project_id: org.projectId, name: 'Scenes' })
  const itemId = (await w.upload(token, org.projectId, { 'a.tif': await scene({ width: 16, height: 16 }) })).body.item_ids[0] as string
  await w.ok(token, 'items.update', { item_id: itemId, collection_id: collection, properties: { crop: 'wheat' } })
  const stac = '/v2/assets/stac'
  const ask = (who: string, method: string, path: string, body?: object) =>
    w.request(method, path, {
      headers: { authorization: `Bearer ${who}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
  const item = `${stac}/collections/${collection}/items/${itemId}`

  await t.test('links keep UP42’s base URL, files keep their URLs, and properties have UP42’s names', async () => {
    const { body } = await ask(token, 'GET', item)
    for (const { href } of body.links) assert.ok(href.startsWith(`${w.baseUrl}${stac}`), href)
    const [asset] = Object.values(body.assets) as { href: string }[]
    assert.ok(asset!.href.startsWith(`${w.baseUrl}/api/v1/items/${itemId}/assets/`), asset!.href)
    assert.equal(body.properties['up42-system:workspace_id'], org.projectId)
    const equal = (property: string, value: string) => ({ op: '=', args: [{ property }, value] })
    const args = [equal('up42-system:asset_id', itemId), equal('up42-system:workspace_id', org.projectId)]
    const where = { filter: { op: 'and', args } }
    const page = await ask(token, 'POST', `${stac}/search`, where)
    assert.deepEqual([page.body.numberMatched, page.body.features[0]], [1, body])
    assert.equal((await ask(token, 'POST', `${stac}/search`, { query: { 'up42-order:id': { eq: 'x' } } })).body.numberMatched, 0)
    const url = await ask(token, 'POST', `${new URL(asset!.href).pathname}/download-url`)
    assert.equal((await fetch(url.body.url)).status, 200)
    assert.equal((await ask(stranger.owner.token, 'POST', `${new URL(asset!.href).pathname}/download-url`)).status, 404)
  })

  await t.test('editors change title and tags; other properties stay', async () => {
    const change = { 'up42-user:title': 'North field', 'up42-user:tags': ['wheat'] }
    assert.equal((await ask(viewer.token, 'PATCH', item, change)).status, 403)
    assert.equal((await ask(stranger.owner.token, 'PATCH', item, change)).status, 404)
    assert.equal((await ask(token, 'PATCH', `${stac}/collections/${org.id}/items/${itemId}`, change)).status, 404)
    assert.equal((await ask(token, 'PATCH', item, { 'up42-user:title': 7 })).status, 400)
    const { status, body } = await ask(editor.token, 'PATCH', item, change)
    assert.deepEqual([status, body.properties['up42-user:title'], body.properties.crop], [200, 'North field', 'wheat'])
    const kept = await ask(editor.token, 'PATCH', item, { 'up42-user:title': null, 'up42-user:tags': null })
    assert.deepEqual([kept.body.properties['up42-user:title'], kept.body.properties['up42-user:tags']], ['North field', ['wheat']])
  })

  await t.test('a collection is deleted with its items, or not at all', async () => {
    const path = `${stac}/collections/${collection}`
    assert.equal((await ask(editor.token, 'DELETE', path)).status, 403)
    assert.equal((await ask(stranger.owner.token, 'DELETE', path)).status, 404)
    assert.equal((await ask(token, 'GET', item)).status, 200, 'a refusal deletes nothing')
    assert.equal((await ask(token, 'DELETE', path)).status, 204)
    assert.deepEqual([(await ask(token, 'GET', item)).status, (await ask(token, 'GET', path)).status], [404, 404])
  })
})

// Goal: the catalogues of all hosts are one STAC API: each scene appears once over all pages, and errors are reported.
test('the catalogue for UP42 clients', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const headers = { authorization: `Bearer ${org.owner.token}` }
  const search = (body: object) => w.post('/v2/catalog/search', body, headers)
  const area = { bbox: [2.3, 48.2, 2.31, 48.21], datetime: '2029-12-01/2029-12-31' }

  await t.test('pages continue from host to host, and end', async () => {
    const wanted = { ...area, collections: ['sandbox-hr', 'sandbox-vhr'], limit: 20 }
    const seen: string[] = []
    const hosts = new Set<string>()
    let body: object | undefined = wanted
    for (let page = 0; body && page < 20; page++) {
      const answer = await search(body)
      assert.equal(answer.status, 200, answer.bytes.toString())
      assert.ok(answer.body.features.length > 0, 'clients take an empty page for the last')
      for (const { id, properties } of answer.body.features) {
        seen.push(id)
        hosts.add(properties.hostName)
      }
      body = answer.body.links.find(({ rel }: { rel: string }) => rel === 'next')?.body
    }
    assert.deepEqual([...hosts].toSorted(), ['sandbox-hr', 'sandbox-vhr'])
    assert.equal(new Set(seen).size, seen.length)
    assert.equal(body, undefined, 'the last page has no next link')
    const all = await Promise.all(
      [...hosts].map(
        async (host_name) => (await w.ok(org.owner.token, 'catalog.search', { ...area, host_name, limit: 500 })).features.length,
      ),
    )
    assert.equal(seen.length, all[0]! + all[1]!)
  })

  await t.test('invalid requests are 400 or 404, and a search requires a credential', async () => {
    const wrong: object[] = [
      { filter: { op: '=', args: [] } },
      { sortby: [{ field: 'datetime', direction: 'asc' }] },
      { query: { gsd: { lt: 1 } } },
      { query: { 'eo:cloud_cover': { lt: 5, gt: 1 } } },
      { query: { 'eo:cloud_cover': { lt: 'many' } } },
      { token: 'x' },
      { limit: 'many' },
    ]
    for (const body of wrong)
      assert.equal((await search({ ...area, collections: ['sandbox-hr'], ...body })).status, 400, JSON.stringify(body))
    const unknown = await search({ ...area, collections: ['sandbox-rh'] })
    assert.deepEqual([unknown.status, unknown.body.detail], [404, "No such collection 'sandbox-rh'; did you mean sandbox-hr?"])
    const get = (path: string) => w.request('GET', `/v2/catalog${path}`, { headers })
    assert.equal((await get('/collections/sandbox-hr/items/nothing')).status, 404)
    assert.equal((await w.request('GET', '/v2/catalog')).status, 401)
    assert.equal((await w.post('/v2/catalog/search', area)).status, 401)
  })

  await t.test('a rejected search of one host has its message where the client reads it', async () => {
    const { status, body } = await w.post('/catalog/hosts/sandbox-hr/stac/search', { query: { gsd: { LT: 1 } } }, headers)
    assert.deepEqual([status, body.error.message], [422, body.detail])
  })
})

// Goal: a search of all hosts skips and names a host that does not respond; a search of that host alone is an error.
test('an unresponsive host in the catalogue for UP42 clients', async (t) => {
  const sources = async (sandboxUrl: string) => {
    const registry = await readRegistry(null, { sandboxUrl, isOffline: true })
    const hosts = registry.hosts.map((host) => (host.hostName === 'sandbox-vhr' ? { ...host, url: 'http://127.0.0.1:1' } : host))
    const isSandbox = ({ hostName }: { hostName: string }) => hostName.startsWith('sandbox-')
    return { ...registry, hosts: hosts.filter(isSandbox), sources: registry.sources.filter(isSandbox) }
  }
  const w = await world(t, { vendors: true, sources })
  const org = await w.organization()
  const search = (body: object) => w.post('/v2/catalog/search', body, { authorization: `Bearer ${org.owner.token}` })
  const area = { bbox: [2.3, 48.2, 2.31, 48.21], datetime: '2029-12-01/2029-12-31', limit: 500 }
  const hosts = new Set<string>()
  const silent = new Set<string>()
  let body: object | undefined = area
  for (let page = 0; body && page < 20; page++) {
    const answer = await search(body)
    assert.equal(answer.status, 200, answer.bytes.toString())
    for (const { properties } of answer.body.features) hosts.add(properties.hostName)
    for (const host of answer.body['svc:silent_hosts'] ?? []) silent.add(host)
    body = answer.body.links.find(({ rel }: { rel: string }) => rel === 'next')?.body
  }
  assert.ok(hosts.has('sandbox-hr') && !hosts.has('sandbox-vhr'), [...hosts].join())
  assert.deepEqual([...silent], ['sandbox-vhr'])
  assert.equal((await search({ ...area, collections: ['sandbox-vhr'] })).status, 502)
})
