import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_RULES_PER_ORGANIZATION } from '#model/events/alert-rule.ts'
import { scene } from '../support/scene.ts'
import { world, type Org } from '../support/world.ts'

const RULE = { expression: 'b1', comparison: 'gt', threshold: 0, notification_channels: ['in_app'], cooldown_minutes: 0 }

// Goal: the number of alert rules is limited, and organizations are served in rotation: many rules of one delay no other's alerts.
test('row 61: alert rules of one organization before those of another', async (t) => {
  const w = await world(t)
  const [many, other] = [await w.organization(), await w.organization()]
  let rules = 0
  // Expressions differ, so that every answer reads pixels: one that is remembered would overtake the first of another organization.
  const rule = (org: Org, name: string) => w.call(org.owner.token, 'alerts.create_rule', { ...RULE, expression: `b1+${++rules}`, name })
  const item = async (org: Org) => {
    const { status } = await w.upload(org.owner.token, org.projectId, { 'a.tif': await scene({ width: 64, height: 64 }) })
    assert.equal(status, 200)
  }

  await t.test('the number of rules is limited, and the error states the limit', async () => {
    const rules = []
    for (let n = 0; n < MAX_RULES_PER_ORGANIZATION; n += 10)
      rules.push(...(await Promise.all(Array.from({ length: 10 }, (_, k) => rule(many, `rule ${n + k}`)))))
    assert.deepEqual([...new Set(rules.map(({ status }) => status))], [200])
    const refused = await Promise.all([rule(many, 'one more'), rule(many, 'another')])
    for (const { status, body } of refused) {
      assert.equal(status, 400, JSON.stringify(body))
      assert.deepEqual([body.used, body.limit], [MAX_RULES_PER_ORGANIZATION, MAX_RULES_PER_ORGANIZATION])
      assert.match(body.detail, /Delete one/)
    }
    const { alert_rules } = await w.ok(many.owner.token, 'alerts.rules.list')
    await w.ok(many.owner.token, 'alerts.delete_rule', { rule_id: alert_rules[0].id })
    assert.equal((await rule(many, 'in its place')).status, 200)
  })

  await t.test('an alert of another organization is evaluated in turn', async () => {
    await rule(other, 'theirs')
    await item(many)
    w.clock.advance({ minutes: 1 })
    await item(other)
    const answered = await w.evaluateAlerts()
    const fired = await w.db.selectFrom('event').select('org_id').where('type', '=', 'alert.triggered').orderBy('seq').execute()
    const place = fired.findIndex(({ org_id }) => org_id === other.id)
    // Four are answered at once.
    assert.ok(place >= 0 && place < 6, `it came as number ${place + 1} of ${fired.length}`)
    assert.deepEqual([answered, fired.length], [MAX_RULES_PER_ORGANIZATION + 1, MAX_RULES_PER_ORGANIZATION + 1])
  })
})
