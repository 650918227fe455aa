// Goal: a user signs in with their organization's login, lands on the page that they asked for, and signs out there too; whoever cannot
// come in reads why, on a page of ours, with a next step.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { coastal } from '../sso/support.ts'
import { CLIENT, startProvider } from '../support/provider.ts'
import { world } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, journey, seat, SEATS, settled } from './console.ts'

for (const { hands, name, options } of SEATS)
  test(`the console: single sign-on, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const c = await coastal(t)
    c.provider.state.asks = true
    await entersAndLeaves(c, await browser(t, hands), name, options)
  })

async function entersAndLeaves(c: Awaited<ReturnType<typeof coastal>>, chromium: Browser, name: string, options: object): Promise<void> {
  const { w, org, provider, knows } = c
  knows('ana')
  provider.state.signsIn = 'ana'
  const member = await w.member(org)
  const here = await seat(w, chromium, options)
  const { page } = here
  await journey(`sso ${name}`, here, async () => {
    // The way in, from a page that needs a session.
    await page.goto(`${w.baseUrl}/app/orders?status=open`)
    await page.getByRole('link', { name: 'Sign in with SSO' }).click()
    await page.getByRole('heading', { name: 'Sign in with SSO' }).waitFor()
    await assertAccessible(page, 'sso')
    await shot(page, `sso-email-${name}`)
    await page.getByLabel('Email').fill('ana@elsewhere.example')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByText('No single sign-on for this address.').waitFor()
    await page.getByLabel('Email').fill('ana@coastal.example')
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('link', { name: 'Continue as ana' }).click()
    await page.waitForURL(/\/app\/orders\?status=open/)
    await settled(page)
    await shot(page, `sso-inside-${name}`)

    // Out of both.
    await page.getByRole('button', { name: /account of ana/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.waitForURL((url) => url.origin === provider.issuer)
    await page.getByRole('button', { name: /Yes/ }).click()
    await page.waitForURL(/\/app\/sign-in$/)
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()

    // A member whose password no longer opens the organization is led to its login.
    await w.ok(org.owner.token, 'organizations.sso.set_rules', { required: true })
    await page.getByLabel('Email').fill(member.email)
    await page.getByLabel('Password', { exact: true }).fill(member.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByText('Your organization requires single sign-on.').waitFor()
    await assertAccessible(page, 'sso required')
    await shot(page, `sso-required-${name}`)
    provider.state.isCancelling = true
    await page.getByRole('link', { name: 'Continue to its login' }).click()
    await page.getByRole('link', { name: 'Continue as ana' }).click()
    await page.getByRole('heading', { name: 'Sign-in cancelled' }).waitFor()
    await assertAccessible(page, 'sso problem')
    await shot(page, `sso-cancelled-${name}`)
    provider.state.isCancelling = false
    await page.getByRole('link', { name: 'Try again' }).click()
    await page.getByRole('link', { name: 'Continue as ana' }).click()
    await page.waitForURL(/\/app\/explore/)
  })
  await page.context().close()
  assert.deepEqual(here.faults, [])
}

// Goal: the provider of the whole installation is one press away from the sign-in form.
test("the console: the installation's provider", { skip: WITHOUT_TIME }, async (t) => {
  await createConsoleBuild().run(new AbortController().signal)
  const provider = await startProvider(t)
  const installation = {
    issuer: provider.issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    scopes: 'openid email profile',
    name: 'Coastal login',
    domains: [],
    maySignUp: true,
  }
  const w = await world(t, { startAt: new Date().toISOString(), egressAllow: [provider.host], sso: { installation } })
  await provider.register([`${w.baseUrl}/auth/sso/callback`])
  provider.people.set('new', { sub: 'new', email: 'new@coastal.example', email_verified: true, name: 'New' })
  provider.state.signsIn = 'new'
  const here = await seat(w, await browser(t))
  await journey('sso-installation', here, async () => {
    await here.page.getByRole('link', { name: 'Continue with Coastal login' }).waitFor()
    await assertAccessible(here.page, 'continue with')
    await shot(here.page, 'sso-installation')
    await here.page.getByRole('link', { name: 'Continue with Coastal login' }).click()
    await here.page.getByText('Create your organization').waitFor()
  })
  await here.page.context().close()
  assert.deepEqual(here.faults, [])
})
