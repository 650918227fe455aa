import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import confirmAddress from '#domains/notifications/confirm-address.task.ts'
import digest from '#domains/notifications/mail-digest.task.ts'
import mailNow from '#domains/notifications/mail-now.task.ts'
import resetPassword from '#domains/notifications/reset-password.task.ts'
import { confirmAddressMail, passwordResetMail } from '#services/mail/mail-templates.ts'
import { mailServer } from '../support/mail-server.ts'
import { world } from '../support/world.ts'

// Goal: nobody can send text of their choice to a stranger's address. Until an address is confirmed it gets the confirmation and
// reset emails alone, with a name that no mail program turns into a link; notifications wait in the inbox.
test('row 56: emails to unconfirmed addresses', async (t) => {
  const server = await mailServer(t)
  const w = await world(t, { smtpUrl: server.url })
  const email = 'stranger@example.com'
  const password = 'correct horse battery'
  const NAME = 'Invoice due\u2028http://evil.example/pay?now=1 or bill@evil.example, www.evil.example\r\nBcc: all@example.com'
  const { body } = await w.post('/auth/sign-up', { email, password, name: NAME })
  const tame = (mail: { text: string; html: string; raw: string; headers: Map<string, string> }) => {
    for (const part of [mail.text, mail.html, mail.headers.get('to')!.replace('<stranger@example.com>', '')]) {
      const own = part.replaceAll(w.baseUrl, '')
      assert.doesNotMatch(own, /evil\.example|bill@|:\/\/|www\.|[\u2028\u2029]/)
    }
    assert.ok(!mail.headers.has('bcc'))
  }

  await t.test('confirmation and reset emails have a sanitized name', async () => {
    await w.drain(confirmAddress)
    await w.post('/auth/forgot', { email })
    await w.drain(resetPassword)
    assert.deepEqual(
      server.mails.map(({ headers }) => headers.get('subject')),
      ['Confirm your email address', 'Reset your password'],
    )
    for (const mail of server.mails) tame(mail)
  })

  const choose = (choice: string) =>
    w.post('/auth/notifications', { notification_mail: choice }, { authorization: `Bearer ${body.access_token as string}` })
  const tell = async (title: string) => {
    const organization = await w.db.selectFrom('organization').select('id').executeTakeFirstOrThrow()
    const row = { id: crypto.randomUUID(), user_id: body.user.id as string, org_id: organization.id, kind: 'approval' as const }
    await w.db
      .insertInto('notification')
      .values({ ...row, title, body: 'Pay at evil.example', created_at: w.clock.now() })
      .execute()
  }

  await t.test('notifications from before the confirmation are never emailed', async () => {
    await w.organization()
    const confirmation = /#token=([\w-]+)/.exec(server.mails[0]!.text)![1]!
    for (const choice of ['instant', 'daily']) {
      assert.equal((await choose(choice)).status, 204)
      await tell('Planted')
      server.mails.splice(0)
      await w.runTask(mailNow)
      await w.runTask(digest)
      assert.equal(server.mails.length, 0)
    }
    assert.equal((await w.post('/auth/confirm', { token: confirmation })).status, 204)
    await w.runTask(digest)
    assert.equal(server.mails.length, 0, 'what was planted before stays in the inbox')
    await tell('New')
    await w.runTask(digest)
    assert.deepEqual(
      server.mails.map(({ headers }) => headers.get('subject')),
      ['New'],
    )
  })
})

test('row 56: names cannot create links, addresses or lines', () => {
  const parts = fc.constantFrom(
    'http://',
    'https:',
    '//',
    'www.',
    'a.b',
    '@',
    'evil',
    '.',
    '\n',
    '\r',
    '\u2028',
    '\u0000',
    ' ',
    ':',
    '\\',
    'com',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(parts, { maxLength: 12 }).map((list) => list.join('')),
        fc.string({ maxLength: 200 }),
      ),
      (name) => {
        for (const template of [confirmAddressMail, passwordResetMail]) {
          const { to, text } = template({ email: 'x@y.test', name }, 'link')
          const greeting = text.split('\n')[0]!
          for (const shown of [to.name, greeting.replace(/,$/, '')]) assert.doesNotMatch(shown, /[@:/\\\p{Cc}\p{Zl}\p{Zp}]|\.\S/u)
          assert.ok(to.name.length <= 80)
          assert.match(text, /^Hello[^\n]*,\n\nA Groundtrack|^Hello[^\n]*,\n\nWe received/)
        }
      },
    ),
  )
})
