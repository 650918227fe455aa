// Goal: users manage their own account, with two-factor sign-in by an authenticator app and by passkeys, by any hands and on a phone.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser, CDPSession, Page } from 'playwright-core'
import { codeAt, stepAt } from '#core/totp.ts'
import changeEmail from '#domains/notifications/change-email.task.ts'
import { createConsoleBuild } from '#start/console-build.ts'
import { mailsIn, tokenIn } from '../support/mails.ts'
import { world, type Org, type Person, type World } from '../support/world.ts'
import { browser, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, journey, seat, SEATS, signIn, type Seat } from './console.ts'

for (const { hands, name, options } of SEATS)
  test(`the console: the account, ${name}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    // Browsers accept passkeys for host names only.
    const named = { ...w, baseUrl: w.baseUrl.replace('127.0.0.1', 'localhost') }
    const chromium = await browser(t, hands)
    const at = { w: named, chromium, options, label: name.replaceAll(' ', '-') }
    await settings(at, await w.organization('Reef Watch'))
    await factors(at, await w.organization('Reef Watch'))
    await rule(at, await w.organization('Reef Watch'))
  })

/** Whoever signs in again returns to where they were. */
const INSIDE = /\/app\/(explore|welcome|account)$/

interface At {
  w: World
  chromium: Browser
  options: object
  label: string
}

const card = (page: Page, title: string) => page.locator('section').filter({ has: page.getByRole('heading', { name: title, exact: true }) })

/** Nothing was asked elsewhere, and nothing broke. */
function assertQuiet(w: World, { requests, faults }: Seat): void {
  const hosts = new Set(requests.filter((url) => url.startsWith('http')).map((url) => new URL(url).host))
  const own = new URL(w.baseUrl).host
  assert.deepEqual(
    [...hosts].filter((host) => host !== own && host !== `127.0.0.1:${w.storePort}`),
    [],
  )
  assert.deepEqual(faults, [])
}

/** A platform authenticator with a fingerprint reader that always recognizes its user. */
async function authenticator(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('WebAuthn.enable')
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return session
}

async function openAccount(w: World, page: Page): Promise<void> {
  await page.goto(`${w.baseUrl}/app/account`)
  await page.getByRole('heading', { name: 'Account', exact: true }).waitFor()
}

async function settings({ w, chromium, options, label }: At, { owner }: Org): Promise<void> {
  const here = await seat(w, chromium, options)
  const { page } = here
  await journey('account-settings', here, async () => {
    await signIn(here, owner)
    await page.getByRole('button', { name: /account of/ }).click()
    await page.getByRole('menuitem', { name: 'Account settings' }).click()
    await page.getByRole('heading', { name: 'Account', exact: true }).waitFor()
    await page.getByText('this session').waitFor()
    await assertAccessible(page, 'account')
    await shot(page, `account-${label}`)

    await page.getByLabel('Name', { exact: true }).fill('Ana Pereira')
    await page.getByRole('button', { name: 'Save name' }).click()
    await page.getByRole('button', { name: /account of Ana Pereira/ }).waitFor()

    // Numbers and dates follow the language.
    const sessions = card(page, 'Sessions')
    await page.getByLabel('Numbers and dates').selectOption('de-DE')
    const month = new Intl.DateTimeFormat('de-DE', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' }).format(
      w.clock.now(),
    )
    await sessions.getByText(`signed in ${month}`).first().waitFor()
    await page.getByLabel('Numbers and dates').selectOption('')
    await page.getByRole('button', { name: 'Imperial (mi², acres)', pressed: false }).click()
    await page.getByRole('button', { name: 'Imperial (mi², acres)', pressed: true }).waitFor()

    // Another session is listed, recognized and ended.
    const other = await w.signIn(owner)
    await page.reload()
    await sessions.getByText('Node.js', { exact: false }).first().waitFor()
    await page.getByRole('button', { name: 'End all other sessions' }).click()
    await page.getByRole('button', { name: 'End all other sessions' }).waitFor({ state: 'detached' })
    assert.equal((await w.request('GET', '/auth/me', { headers: { authorization: `Bearer ${other.token}` } })).status, 401)

    const address = `new-${owner.email}`
    await page.getByLabel('New email address').fill(address)
    await page.getByLabel('Password to confirm the change').fill(owner.password)
    await page.getByRole('button', { name: 'Change email address' }).click()
    await page.getByText(`Confirm ${address}.`).waitFor()
    await w.drain(changeEmail)
    await page.goto(`${w.baseUrl}/change-email#token=${tokenIn(mailsIn(w.mailDir, address).at(-1)!)}`)
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('Your email address was changed').waitFor()
    await openAccount(w, page)
    await card(page, 'Email address').getByText(address).waitFor()

    await page.getByLabel('Current password').fill(owner.password)
    await page.getByLabel('New password').fill('a second long password')
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed. Other sessions have ended.').waitFor()

    // The only owner has to hand over first; the dialog says so.
    await page.getByRole('button', { name: 'Delete account' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('You own 1 organization').waitFor()
    await dialog.getByLabel('Current password').fill('a second long password')
    await dialog.getByRole('button', { name: 'Delete my account' }).click()
    await dialog.getByText("You are the only owner of 'Reef Watch'").waitFor()
    await assertAccessible(page, 'delete account')
    await shot(page, `account-delete-${label}`)
  })
  await page.context().close()
  assertQuiet(w, here)
}

const shownCode = (w: World, secret: string) => codeAt(secret, stepAt(w.clock.now()))

/** Adds an authenticator app; returns its secret and a recovery code. */
async function addApp(w: World, page: Page, { password }: Person, label: string): Promise<{ secret: string; recoveryCode: string }> {
  await page.getByRole('button', { name: 'Add app' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Current password').fill(password)
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await dialog.getByRole('img', { name: 'QR code for the authenticator app' }).waitFor()
  const secret = (await dialog.getByLabel('Secret').textContent())!.replaceAll(' ', '')
  await assertAccessible(page, 'QR code')
  await shot(page, `account-app-${label}`)
  await dialog.getByLabel('Code', { exact: true }).fill(shownCode(w, secret))
  await dialog.getByRole('button', { name: 'Confirm app' }).click()
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
  await codes.first().waitFor()
  assert.equal(await codes.count(), 10)
  const recoveryCode = (await codes.first().textContent())!
  await assertAccessible(page, 'recovery codes')
  await shot(page, `account-codes-${label}`)
  await page.getByRole('button', { name: 'I saved the codes' }).click()
  w.clock.advance({ seconds: 30 })
  return { secret, recoveryCode }
}

async function enterPassword(page: Page, who: Person): Promise<void> {
  await page.getByLabel('Email').fill(who.email)
  await page.getByLabel('Password', { exact: true }).fill(who.password)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'Two-factor sign-in' }).waitFor()
}

async function signOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: /account of/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL(/\/app\/sign-in/)
}

async function factors({ w, chromium, options, label }: At, { owner }: Org): Promise<void> {
  const here = await seat(w, chromium, options)
  const { page } = here
  await authenticator(page)
  await journey('account-factors', here, async () => {
    await signIn(here, owner)
    await openAccount(w, page)
    const { secret, recoveryCode } = await addApp(w, page, owner, label)
    await page.getByText('10 of 10 left').waitFor()

    // A wrong code, then the right one.
    await signOut(page)
    await enterPassword(page, owner)
    await assertAccessible(page, 'second step')
    await shot(page, `second-step-${label}`)
    await page.getByLabel('Code', { exact: true }).fill('000000')
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.getByText('The code is wrong').waitFor()
    await page.getByLabel('Code', { exact: true }).fill(shownCode(w, secret))
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.waitForURL(INSIDE)
    w.clock.advance({ seconds: 30 })

    // A passkey, with a code as proof.
    await openAccount(w, page)
    await page.getByRole('button', { name: 'Add passkey' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name of the passkey').fill('Field laptop')
    await dialog.getByLabel('Code or recovery code').fill(shownCode(w, secret))
    await dialog.getByRole('button', { name: 'Create passkey' }).click()
    await page.getByText('Field laptop').waitFor()
    await assertAccessible(page, 'factors')
    await shot(page, `account-factors-${label}`)

    // It is a second factor, and signs in alone.
    await signOut(page)
    await enterPassword(page, owner)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL(INSIDE)
    await signOut(page)
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
    await page.waitForURL(INSIDE)

    // A recovery code works once.
    await signOut(page)
    await enterPassword(page, owner)
    await page.getByRole('button', { name: 'Use a recovery code' }).click()
    await page.getByLabel('Recovery code').fill(recoveryCode)
    await page.getByRole('button', { name: 'Verify' }).click()
    await page.waitForURL(INSIDE)
    await openAccount(w, page)
    await page.getByText('9 of 10 left').waitFor()

    // Turning it off takes a factor each time.
    await page.getByRole('button', { name: 'Remove app' }).click()
    await dialog.getByRole('button', { name: 'Use a passkey' }).click()
    await page.locator('main').getByRole('button', { name: 'Remove app' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove passkey Field laptop' }).click()
    await dialog.getByText('This is your last factor').waitFor()
    await dialog.getByRole('button', { name: 'Use a passkey' }).click()
    await card(page, 'Two-factor sign-in').getByText('Off', { exact: true }).waitFor()
  })
  await page.context().close()
  assertQuiet(w, here)
}

async function rule({ w, chromium, options, label }: At, org: Org): Promise<void> {
  const member = await w.member(org, 'editor')
  const here = await seat(w, chromium, options)
  await journey('account-rule', here, async () => {
    const { page } = here
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/team`)
    const toggle = page.getByRole('switch', { name: 'Require two-factor sign-in' })
    await page.getByText('Set up your own second factor').waitFor()
    assert.ok(await toggle.isDisabled())
    await page.getByRole('link', { name: 'Set up your own second factor' }).click()
    await addApp(w, page, org.owner, label)
    await page.goto(`${w.baseUrl}/app/team`)
    await page.getByText('1 of 2 members without a second factor').waitFor()
    await toggle.click()
    await page.getByRole('switch', { name: 'Require two-factor sign-in', checked: true }).waitFor()
    await assertAccessible(page, 'team with the rule')
    await shot(page, `account-rule-${label}`)
  })
  const theirs = await seat(w, chromium, options)
  await journey('account-required', theirs, async () => {
    const { page } = theirs
    await page.getByLabel('Email').fill(member.email)
    await page.getByLabel('Password', { exact: true }).fill(member.password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('heading', { name: 'Set up two-factor sign-in' }).waitFor()
    await page.getByRole('button', { name: 'Add app' }).waitFor()
    await assertAccessible(page, 'required')
    await shot(page, `account-required-${label}`)
    await addApp(w, page, member, label)
    await page.getByRole('heading', { name: 'Set up two-factor sign-in' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: /account of/ }).waitFor()
  })
  for (const person of [here, theirs]) {
    await person.page.context().close()
    assertQuiet(w, person)
  }
}
