// Goal: an owner keeps the organization's details right, connects its login and proves its domain; an admin sees it, a member does not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { CLIENT, startNameServer, startProvider } from '../support/provider.ts'
import { world, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, SEATS, signIn } from './console.ts'

interface Around {
  w: World
  provider: Awaited<ReturnType<typeof startProvider>>
  names: Awaited<ReturnType<typeof startNameServer>>
  chromium: Browser
}

for (const { hands, name, options } of SEATS)
  test(`the console: settings of an organization, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const provider = await startProvider(t)
    const names = await startNameServer(t)
    const w = await world(t, {
      startAt: new Date().toISOString(),
      egressAllow: [provider.host],
      sso: { nameServers: [names.address] },
    })
    await provider.register([`${w.baseUrl}/auth/sso/callback`])
    await settings({ w, provider, names, chromium: await browser(t, hands) }, name, options)
  })

async function settings({ w, provider, names, chromium }: Around, name: string, options: object): Promise<void> {
  const org = await w.organization('Coastal')
  const member = await w.member(org)
  const here = await seat(w, chromium, options)
  const { page } = here
  await journey(`organization ${name}`, here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/team/organization`)
    // Profile: a wrong number is named beside its field, the right one is stored.
    await page.getByLabel('Name', { exact: true }).fill('Coastal Survey')
    await page.getByLabel('ABN').fill('51 824 753 557')
    await page.getByLabel('Billing email').fill('accounts@coastal.example')
    await page.getByLabel('Default project').selectOption({ label: 'First project' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('must be an Australian Business Number').waitFor()
    await page.getByLabel('ABN').fill('51824753556')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Organization saved').waitFor()
    assert.equal(await page.getByLabel('ABN').inputValue(), '51 824 753 556')
    const saved = await w.ok(org.owner.token, 'organizations.get', {})
    assert.deepEqual(
      [saved.name, saved.abn, saved.billing_email, saved.default_project_id],
      ['Coastal Survey', '51824753556', 'accounts@coastal.example', org.projectId],
    )

    // The provider.
    await page.getByRole('button', { name: 'Connect a provider' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Issuer URL').fill(provider.issuer)
    await dialog.getByLabel('Client ID').fill(CLIENT.id)
    await dialog.getByLabel('Client secret').fill(CLIENT.secret)
    await dialog.getByLabel('Name shown to members').fill('Coastal login')
    await dialog.getByLabel('Role claim').fill('groups')
    await dialog.getByLabel('Roles by value').fill('admins')
    await assertAccessible(page, 'connect a provider')
    await shot(page, `organization-connect-${name}`)
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
    await dialog.getByText('Write each as value=admin or value=member.').waitFor()
    await dialog.getByLabel('Roles by value').fill('imagery-admins=admin, reef=member')
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click()
    await page.getByText('connected', { exact: true }).waitFor()

    // A rule that would lock everybody out is refused until the domain is proved.
    await page.getByRole('switch', { name: 'Require single sign-on' }).click()
    await page.getByText('Verify a domain first').waitFor()
    await page.getByLabel('Domain', { exact: true }).fill('Coastal.Example')
    await page.getByRole('button', { name: 'Add domain' }).click()
    await page.getByRole('button', { name: 'Check coastal.example' }).click()
    await page.getByText('The record was not found').waitFor()
    await shot(page, `organization-domain-${name}`)
    const [domain] = (await w.ok(org.owner.token, 'organizations.domains.list', {})).domains
    names.records.set(domain.record_name, [domain.record_text])
    await page.getByRole('button', { name: 'Check coastal.example' }).click()
    await page.getByText('verified', { exact: true }).waitFor()
    await page.getByRole('switch', { name: 'Require single sign-on', checked: false }).click()
    await page.getByRole('switch', { name: 'Require single sign-on', checked: true }).waitFor()
    await assertAccessible(page, 'organization')
    await shot(page, `organization-${name}`)
    assert.equal((await w.post('/auth/sign-in', { email: member.email, password: member.password })).status, 403)

    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('button', { name: 'Connect a provider' }).waitFor()
  })
  const guest = await seat(w, chromium, options)
  await journey(`organization-member ${name}`, guest, async () => {
    await signIn(guest, member)
    await guest.page.goto(`${w.baseUrl}/app/team/organization`)
    await guest.page.getByText('51824753556').waitFor()
    assert.equal(await guest.page.getByRole('button', { name: 'Save' }).count(), 0)
    assert.equal(await guest.page.getByText('Single sign-on').count(), 0)
    await assertAccessible(guest.page, 'organization of a member')
  })
  for (const person of [here, guest]) {
    await person.page.context().close()
    assertOwnBusiness(w, person)
  }
}
