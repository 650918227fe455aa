// Goal: people come in by invitation, have a role and a cap, and see what these allow.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Browser } from 'playwright-core'
import { createConsoleBuild } from '#start/console-build.ts'
import { world, type Org, type World } from '../support/world.ts'
import { browser, HANDS, shot, WITHOUT_TIME } from './chromium.ts'
import { assertAccessible, assertOwnBusiness, journey, seat, signIn } from './console.ts'

for (const hands of HANDS)
  test(`the console: a team, by ${hands}`, { skip: WITHOUT_TIME }, async (t) => {
    await createConsoleBuild().run(new AbortController().signal)
    const w = await world(t, { startAt: new Date().toISOString() })
    await team(w, await w.organization(), await browser(t, hands))
  })

// Goal (J13): an invitation becomes a member; caps of 0 and of none mean what they say; a role in a project opens it; what is for
// admins is not shown to members.
async function team(w: World, org: Org, chromium: Browser): Promise<void> {
  const here = await seat(w, chromium)
  const { page } = here
  const email = `ines-${process.pid}@example.com`
  let link = ''
  await journey('team', here, async () => {
    await signIn(here, org.owner)
    await page.goto(`${w.baseUrl}/app/team`)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('dialog').getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Send invitation' }).click()
    link = (await page.getByLabel('Invitation link').textContent())!
    await assertAccessible(page, 'invitation')
  })
  const guest = await seat(w, chromium)
  await journey('team-guest', guest, async () => {
    await guest.page.goto(link)
    await guest.page.getByRole('link', { name: 'Create an account and join' }).click()
    await guest.page.getByLabel('Name').fill('Inês')
    await guest.page.getByLabel('Email').fill(email)
    await guest.page.getByLabel('Password', { exact: true }).fill('coral and sand 84')
    await guest.page.getByRole('button', { name: 'Create account' }).click()
    await guest.page.getByRole('button', { name: `Join as ${email}` }).click()
    await guest.page.waitForURL(/\/app\/explore/)
    await guest.page.goto(`${w.baseUrl}/app/billing`)
    await guest.page.getByText('Billing is for owners and admins').waitFor()
    await guest.page.goto(`${w.baseUrl}/app/team`)
    await guest.page.getByText('Only owners and admins can see members').waitFor()
    assert.equal(await guest.page.getByRole('button', { name: 'Invite' }).count(), 0)
    await guest.page.goto(`${w.baseUrl}/app/team/audit`)
    await guest.page.getByText("You don't have access to this").waitFor()
    await assertAccessible(guest.page, 'no permission')
    await shot(guest.page, 'team-member')
  })
  await journey('team-caps', here, async () => {
    await page.reload()
    const memberId = (await w.ok(org.owner.token, 'organizations.members.list', { organizationId: org.id })).members.find(
      (invitation: { email: string }) => invitation.email === email,
    ).user_id
    const capOf = async () => {
      const { members } = await w.ok(org.owner.token, 'organizations.members.list', { organizationId: org.id })
      const member = members.find(({ user_id }: { user_id: string }) => user_id === memberId)
      return [member.per_order_limit_credits, member.spend_limit_credits]
    }
    const setCap = async (which: string, to: string, said: string) => {
      await page.getByRole('button', { name: new RegExp(`^Cap ${which} of Inês`) }).click()
      await page.getByLabel(`Cap ${which} of Inês`, { exact: true }).fill(to)
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: `Cap ${which} of Inês: ${said}. Change` }).waitFor()
    }
    await setCap('per order', '0', '0, cannot spend')
    await setCap('in 30 days', '5000', '5,000')
    assert.deepEqual(await capOf(), [0, 5_000])
    await setCap('per order', '', 'none')
    assert.deepEqual(await capOf(), [null, 5_000])
    // Esc takes back what was typed.
    await page.getByRole('button', { name: /^Cap in 30 days of Inês/ }).click()
    await page.getByLabel('Cap in 30 days of Inês', { exact: true }).fill('7')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Cap in 30 days of Inês: 5,000. Change' }).waitFor()
    await assertAccessible(page, 'team')
    await shot(page, 'team')

    await page.getByRole('link', { name: 'Projects and roles' }).click()
    await page.getByLabel('Add by email').fill(email)
    await page.getByLabel('Role', { exact: true }).selectOption('viewer')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByLabel(`Role of ${email}`).selectOption('editor')
    await guest.page.goto(`${w.baseUrl}/app/uploads`)
    await guest.page.getByText('Drop files here').waitFor()
  })
  for (const person of [here, guest]) {
    await person.page.context().close()
    assertOwnBusiness(w, person)
  }
}
