import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { escapeXml } from '#wire/xml.ts'
import { rasterItem } from '../support/layers.ts'
import { scene } from '../support/scene.ts'
import { world } from '../support/world.ts'

/*
 * Goal (docs/threats.md, row 24): what people write into names, styles and addresses stays text in the documents that maps read: no
 * element, attribute, link or header of an attacker's comes out of them.
 */
const PAYLOADS = [
  '<script>alert(1)</script>',
  '"/><evil/>',
  "' onload='x",
  ']]><evil/>',
  '<!--',
  '&xxe;',
  '<?php ?>',
  '\u0001\u0008\uFFFE',
  '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]>',
  'a\r\nSet-Cookie: x=1',
]

test('documents cannot be injected into', async (t) => {
  const w = await world(t)
  const org = await w.organization()
  const { key } = await w.key(org.owner.token, ['read'])
  const bytes = await scene({ width: 40, height: 40 })

  await t.test('payloads in every string of an item', async () => {
    for (const payload of PAYLOADS) {
      const id = await rasterItem(w, org, [{ bytes }], { name: `n${payload}`, description: `d${payload}` })
      await w.ok(org.owner.token, 'visualization.profile.create', {
        item_id: id,
        name: `p${payload}`,
        type: 'rgb',
        config: { bands: [1, 2, 3] },
      })
      const { status, bytes: xml, headers } = await w.request('GET', `/wmts/${id}?REQUEST=GetCapabilities&key=${key}`)
      assert.equal(status, 200)
      assertPlain(xml.toString())
      assert.equal(headers.get('set-cookie'), null)
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.match(headers.get('content-security-policy')!, /default-src 'none'/)
      const { tiles } = (await w.request('GET', `/api/v1/items/${id}/tilejson.json?key=${key}`)).body
      assert.ok(tiles[0].startsWith(`${w.baseUrl}/api/v1/items/`))
    }
  })

  await t.test('payloads in what comes with the request', async () => {
    const id = await rasterItem(w, org, [{ bytes }])
    for (const payload of PAYLOADS) {
      const encoded = encodeURIComponent(payload)
      for (const address of [
        `/wmts/${id}?REQUEST=${encoded}&key=${key}`,
        `/wmts/${id}?REQUEST=GetTile&LAYER=${encoded}&key=${key}`,
        `/wmts/${encoded}?REQUEST=GetCapabilities&key=${key}`,
        `/wmts/${id}?REQUEST=GetCapabilities&profile=${encoded}&key=${key}`,
        `/wmts/${id}?REQUEST=GetCapabilities&asset_key=${encoded}&key=${key}`,
      ]) {
        const { bytes: xml, status } = await w.request('GET', address)
        assert.ok(status >= 400 && status < 502, `${status} ${address}`)
        assertPlain(xml.toString())
      }
      const { bytes: xml } = await w.call(org.owner.token, 'items.tile.wmts_capabilities', {
        item_id: id,
        base_url: w.baseUrl,
        key: payload,
      })
      assertPlain(xml.toString())
    }
  })

  await t.test('base_url must be a URL; GET routes do not accept it', async () => {
    const id = await rasterItem(w, org, [{ bytes }])
    for (const base_url of [
      'javascript:alert(1)',
      'data:text/html,x',
      '//evil.example',
      'evil.example',
      'https://a@evil.example',
      'https://u:p@evil.example',
      'https://evil.example/?x=',
      'https://evil.example/#',
      'https://evil.example/a b#c',
      'ftp://evil.example',
      'file:///etc/passwd',
      '',
    ]) {
      assert.equal((await w.call(org.owner.token, 'items.tile.wmts_capabilities', { item_id: id, base_url })).status, 422, base_url)
    }
    const quoted = await w.call(org.owner.token, 'items.tile.wmts_capabilities', {
      item_id: id,
      base_url: 'https://maps.example/"><evil/>',
    })
    assertPlain(quoted.bytes.toString())
    for (const headers of [
      { host: 'evil.example' },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
      { forwarded: 'host=evil.example' },
    ] as Record<string, string>[]) {
      for (const address of [
        `/wmts/${id}?REQUEST=GetCapabilities&base_url=https://evil.example&key=${key}`,
        `/api/v1/items/${id}/tilejson.json?base_url=https://evil.example&key=${key}`,
      ])
        assert.ok(!(await w.request('GET', address, { headers })).bytes.toString().includes('evil'))
    }
  })

  await t.test('escaped text has no markup and no forbidden characters, and round-trips where XML allows', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        const escaped = escapeXml(text)
        assert.ok(!/[<>"']|&(?!(amp|lt|gt|quot|apos);)/.test(escaped))
        // oxlint-disable-next-line no-control-regex
        const kept = text.toWellFormed().replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, '')
        assert.equal(
          escaped
            .replaceAll('&lt;', '<')
            .replaceAll('&gt;', '>')
            .replaceAll('&quot;', '"')
            .replaceAll('&apos;', "'")
            .replaceAll('&amp;', '&'),
          kept,
        )
      }),
    )
  })
})

/** Only elements that we write, and no entity of anybody else's. */
function assertPlain(xml: string): void {
  assert.ok(!/<evil|<script|<!|<\?php|onload='|&(?!(amp|lt|gt|quot|apos);)/.test(xml), xml.slice(0, 2_000))
  // oxlint-disable-next-line no-control-regex
  assert.ok(!/[\u0000-\u0008\uFFFE]/.test(xml))
}
