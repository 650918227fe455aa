import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import sharp from 'sharp'
import { operations } from '#registry.ts'
import { scene, tileAt } from '../support/scene.ts'
import { world } from '../support/world.ts'

const CLI = path.join(import.meta.dirname, '../../packages/cli/bin/groundtrack.mjs')

// Goal: a real agent library lists the tools, searches, views an image and cannot spend without a price, over HTTP and stdio.
test('an agent', async (t) => {
  const w = await world(t, { vendors: true })
  const org = await w.organization()
  const { body } = await w.upload(org.owner.token, org.projectId, { 'field.tif': await scene() })
  const [itemId] = body.item_ids as string[]
  const { key } = await w.key(org.owner.token, ['write', 'process'])

  const byHttp = (query: string) =>
    new StreamableHTTPClientTransport(new URL(`${w.baseUrl}/mcp${query}`), { requestInit: { headers: { authorization: `Bearer ${key}` } } })
  const byStdio = (flags: readonly string[]) =>
    new StdioClientTransport({
      command: process.execPath,
      args: [CLI, 'mcp', ...flags],
      env: {
        PATH: process.env['PATH']!,
        GROUNDTRACK_URL: w.baseUrl,
        GROUNDTRACK_API_KEY: key,
        GROUNDTRACK_CONFIG: '/nonexistent/accounts.json',
      },
    })
  const transports: [string, (sets: string, spend?: boolean) => StreamableHTTPClientTransport | StdioClientTransport][] = [
    ['POST /mcp', (sets, spend) => byHttp(`?tools=${sets}${spend ? '&spend=1' : ''}`)],
    ['groundtrack mcp', (sets, spend) => byStdio(['--tools', sets, ...(spend ? ['--spend'] : [])])],
  ]
  for (const [name, transport] of transports)
    await t.test(name, async (t) => {
      const agent = new Client({ name: 'test', version: '1.0.0' })
      await agent.connect(transport('items,catalog'))
      t.after(() => agent.close())
      assert.match(agent.getInstructions() ?? '', /imagery/)
      const { tools } = await agent.listTools()
      const names = tools.map((tool) => tool.name)
      assert.ok(names.includes('items_list') && names.includes('catalog_search'), String(names))
      assert.ok(!names.some((tool) => /delete|create|topup|projects_get/.test(tool)), 'only reading tools of the sets that were asked for')
      assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true))

      const result = await agent.callTool({
        name: 'catalog_search',
        arguments: { host_name: 'sandbox-open', bbox: [151, -34, 152, -33], datetime: '2029-05-01/2029-06-30', limit: 2 },
      })
      assert.equal((result.structuredContent as { features: unknown[] }).features.length, 2)

      const picture = await agent.callTool({
        name: 'items_tile_render',
        arguments: { item_id: itemId, ...tileAt(151.15, -33.1, 10), format: 'png' },
      })
      const [image] = picture.content as { type: string; mimeType: string; data: string }[]
      assert.deepEqual([image!.type, image!.mimeType], ['image', 'image/png'])
      const { width, height } = await sharp(Buffer.from(image!.data, 'base64')).metadata()
      assert.deepEqual([width, height], [256, 256])

      const wrong = await agent.callTool({ name: 'items_get', arguments: { item_id: 'nowhere' } })
      assert.equal(wrong.isError, true)
      assert.equal((wrong.structuredContent as { code: string }).code, 'not-found')
    })

  await t.test('a spend without its price is rejected', async (t) => {
    const agent = new Client({ name: 'test', version: '1.0.0' })
    await agent.connect(byHttp('?tools=billing&spend=1'))
    t.after(() => agent.close())
    const { isError, content } = await agent.callTool({ name: 'billing_topup', arguments: { credits: 20_000 } })
    assert.equal(isError, true)
    assert.match((content as { text: string }[])[0]!.text, /Nothing was done yet.*20000 credits/)
  })

  await t.test('names are short, plain and of one operation each', () => {
    const names = [...operations.keys()].map((id) => id.replaceAll('.', '_'))
    assert.equal(new Set(names).size, names.length)
    assert.ok(names.every((name) => /^[a-z0-9_]{1,64}$/.test(name)))
  })
})
