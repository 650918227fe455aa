import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { mailServer, type Mailed } from '../../test/support/mail-server.ts'
import { world } from '../../test/support/world.ts'
import confirmAddress from '#domains/notifications/confirm-address.task.ts'
import inviteByMail from '#domains/notifications/invite.task.ts'
import digest from '#domains/notifications/mail-digest.task.ts'
import mailNow from '#domains/notifications/mail-now.task.ts'
import resetPassword from '#domains/notifications/reset-password.task.ts'

const tokenOf = ({ text }: Mailed) => /#token=([\w-]+)/.exec(text)![1]!

// Goal: the owner of an address can confirm it and reset the password, once and in time; nobody else learns anything.
test('links in emails', async (t) => {
  const server = await mailServer(t)
  const w = await world(t, { smtpUrl: server.url })
  const reef = await w.person('reef@example.com')
  const confirmed = async () =>
    (await w.db.selectFrom('app_user').select('email_confirmed_at as at').where('id', '=', reef.id).executeTakeFirstOrThrow()).at

  await t.test('sign-up sends an email whose link confirms the address, once', async () => {
    assert.equal(await w.drain(confirmAddress), 1)
    const [mail] = server.mails.splice(0)
    assert.deepEqual([mail!.to, mail!.headers.get('subject')], [['reef@example.com'], 'Confirm your email address'])
    const token = tokenOf(mail!)
    assert.equal(
      mail!.text,
      'Hello reef,\n\nA Groundtrack account was created with this email address. If you created it, confirm the address and sign in.\n\n' +
        'Confirming signs out all sessions, revokes API keys, invitations and share links, and pauses webhooks that were created before. ' +
        'If you did not create the account, do not confirm it: reset its password, or ignore this email.\n\n' +
        `Confirm email address: ${w.baseUrl}/confirm#token=${token}`,
    )
    assert.match(mail!.html, new RegExp(`<a href="${w.baseUrl}/confirm#token=${token}">Confirm email address</a>`))
    assert.equal(await confirmed(), null)
    assert.equal((await w.post('/auth/reset', { token, password: 'another password' })).status, 400, 'it is for nothing else')
    assert.equal((await w.post('/auth/confirm', { token })).status, 204)
    assert.deepEqual(await confirmed(), w.clock.now())
    const again = await w.post('/auth/confirm', { token })
    assert.equal(again.status, 400)
    assert.match(again.body.detail, /already used or has expired/)
  })

  await t.test('a password reset request gets the same response for every address', async () => {
    const [known, unknown] = [
      await w.post('/auth/forgot', { email: 'Reef@example.com ' }),
      await w.post('/auth/forgot', { email: 'nobody@example.com' }),
    ]
    assert.equal(known.status === 422 ? 202 : known.status, unknown.status)
    const asked = await w.post('/auth/forgot', { email: 'reef@example.com' })
    assert.deepEqual([asked.status, asked.bytes.toString()], [202, unknown.bytes.toString()])
    await w.drain(resetPassword)
    assert.ok(server.mails.every(({ to }) => to[0] === 'reef@example.com') && server.mails.length >= 1)
  })

  await t.test('the link sets a new password once and ends all sessions; the queue contains no token', async () => {
    const token = tokenOf(server.mails.splice(0).at(-1)!)
    assert.equal((await w.post('/auth/reset', { token, password: 'short' })).status, 422)
    assert.equal((await w.post('/auth/reset', { token, password: 'a password of my own' })).status, 204)
    assert.equal((await w.post('/auth/reset', { token, password: 'a second password' })).status, 400)
    assert.equal((await w.post('/auth/sign-in', { email: reef.email, password: reef.password })).status, 401)
    assert.equal((await w.post('/auth/sign-in', { email: reef.email, password: 'a password of my own' })).status, 200)
    assert.equal((await w.post('/auth/refresh', { refresh_token: reef.refreshToken })).status, 401)
    const stored = await w.db.selectFrom('mail_token').selectAll().execute()
    assert.ok(!JSON.stringify(stored).includes(token))
  })

  await t.test('the link expires after 30 minutes', async () => {
    await w.post('/auth/forgot', { email: 'reef@example.com' })
    await w.drain(resetPassword)
    const token = tokenOf(server.mails.splice(0).at(-1)!)
    w.clock.advance({ minutes: 30 })
    assert.equal((await w.post('/auth/reset', { token, password: 'too late for this' })).status, 400)
  })

  await t.test('repeated requests send a few emails and are then rejected', async () => {
    w.clock.advance({ minutes: 16 })
    const statuses = []
    for (let n = 0; n < 31; n++) statuses.push((await w.post('/auth/forgot', { email: 'reef@example.com' })).status)
    assert.deepEqual([statuses.filter((status) => status === 202).length, statuses.at(-1)], [30, 429])
    await w.drain(resetPassword)
    assert.equal(server.mails.splice(0).length, 5)
  })

  await t.test('names cannot inject headers, and markup stays text', async () => {
    const name = 'Eve\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script>'
    assert.equal((await w.post('/auth/sign-up', { email: 'eve@example.com', password: 'correct horse battery', name })).status, 201)
    await w.drain(confirmAddress)
    const [mail] = server.mails.splice(0)
    assert.deepEqual(mail!.to, ['eve@example.com'])
    assert.ok(!mail!.headers.has('bcc'))
    assert.ok(!/^bcc:/im.test(mail!.raw))
    assert.ok(!mail!.html.includes('<script>'))
    assert.match(mail!.text, /^Hello Eve Bcc all example com <script>alert\(1\)< script>,\n\n/)
  })

  await t.test('the linked pages only run our scripts and never send the token in a URL', async () => {
    for (const page of ['/reset', '/confirm']) {
      const { status, headers, bytes } = await w.request('GET', page)
      assert.equal(status, 200)
      assert.match(headers.get('content-security-policy')!, /script-src 'self'/)
      assert.match(bytes.toString(), /<script src="\/assets\/mailed\.js" defer>/)
    }
    assert.equal((await w.request('GET', '/assets/mailed.js')).status, 200)
  })
})

// Goal: an invitation is emailed; its link adds the member and confirms the address, and nobody else can abuse either.
test('emailed invitations', async (t) => {
  const server = await mailServer(t)
  const w = await world(t, { smtpUrl: server.url })
  const org = await w.organization()
  const linkOf = ({ text }: Mailed) => /https?:\S+\/invite\/inv_[\w-]+/.exec(text)![0]
  const invite = async (email: string, more: object = {}) =>
    (await w.ok(org.owner.token, 'organizations.members.invite', { email, ...more })).invitation
  const mailedTo = async (email: string) => {
    await w.drain(inviteByMail)
    const [mail] = server.mails.splice(0).filter(({ to }) => to[0] === email)
    return mail
  }
  const confirmed = async (id: string) =>
    (await w.db.selectFrom('app_user').select('email_confirmed_at as at').where('id', '=', id).executeTakeFirstOrThrow()).at
  const inbox = async (token: string) => (await w.ok(token, 'notifications.list')) as { kind: string; title: string; body: string }[]

  await t.test('the email names the inviter and the organization; its link adds the member and confirms the address', async () => {
    const ana = await w.person('ana@example.com')
    const { url } = await invite('ana@example.com')
    const mail = (await mailedTo('ana@example.com'))!
    const link = linkOf(mail)
    assert.notEqual(link, url, 'only the reader of the mail has it')
    const { name } = await w.ok(org.owner.token, 'organizations.get')
    assert.equal(mail.headers.get('subject'), `Invitation to ${name}`)
    assert.match(
      mail.text,
      /^Hello,\n\n“[^”]+” has invited you to join the organization “[^”]+” as member on Groundtrack\.\n\nSign in or create an account/,
    )
    assert.match(mail.text, /works once and expires on 2030-01-15\.\n\nIf you did not expect this invitation, ignore this email/)
    assert.ok(mail.html.includes(`<a href="${link}">Accept invitation</a>`))
    const [told] = await inbox(ana.token)
    assert.deepEqual([told!.kind, told!.title], ['invitation', `You are invited to ${name}`])
    assert.ok(!JSON.stringify(told).includes('inv_'))
    const preview = (of: string) => w.post('/auth/invitations/preview', { token: of.split('/').at(-1) })
    for (const each of [link, url])
      assert.deepEqual((await preview(each)).body, {
        organization: name,
        role: 'member',
        inviter: mail.text.match(/“([^”]+)” has invited you/)![1],
        email: 'ana@example.com',
        expires_at: '2030-01-15T00:00:00.000Z',
      })
    assert.equal((await preview('inv_guessed')).status, 404)
    assert.equal((await w.accept(ana.token, link)).status, 200)
    assert.equal((await preview(link)).status, 404, 'what was used tells nothing')
    assert.deepEqual(await confirmed(ana.id), w.clock.now())
    assert.equal((await w.accept(ana.token, link)).status, 404, 'once')
    assert.equal((await w.accept(ana.token, url)).status, 404, 'and the other link with it')
    const joined = (await inbox(org.owner.token)).find(({ title }) => title === 'ana has joined')
    assert.equal(joined?.body, 'ana (ana@example.com) accepted your invitation.')
  })

  await t.test('the link of the response, or an emailed link used by someone else, adds the member but confirms nothing', async () => {
    const [ben, eve] = [await w.person('ben@example.com'), await w.person('eve@example.com')]
    const { url } = await invite('ben@example.com')
    await w.drain(inviteByMail)
    assert.equal((await w.accept(ben.token, url)).status, 200)
    server.mails.splice(0)
    await invite('carol@example.com')
    assert.equal((await w.accept(eve.token, linkOf((await mailedTo('carol@example.com'))!))).status, 200)
    assert.deepEqual([await confirmed(ben.id), await confirmed(eve.id)], [null, null])
  })

  await t.test('to a project; a new invitation ends older links, revoking ends all of them and sends no email', async () => {
    const again = () =>
      w.ok(org.owner.token, 'projects.add_member', { project_id: org.projectId, email: 'dora@example.com', role: 'viewer' })
    await again()
    const first = (await mailedTo('dora@example.com'))!
    assert.match(first.text, /” as member and its project “[^”]+” as (viewer|editor|admin) on Groundtrack/)
    await again()
    const second = (await mailedTo('dora@example.com'))!
    const dora = await w.person('dora@example.com')
    assert.equal((await w.accept(dora.token, linkOf(first))).status, 404)
    const { body } = await w.accept(dora.token, linkOf(second))
    assert.deepEqual(body, { organization_id: org.id, project_id: org.projectId, role: 'viewer' })
    const { id } = await invite('fay@example.com')
    await w.ok(org.owner.token, 'organizations.invitations.revoke', { invitation_id: id })
    assert.equal(await mailedTo('fay@example.com'), undefined)
  })

  await t.test('names inject neither headers nor links', async () => {
    const name = 'Win at https://evil.example/now or mail x@evil.example\r\nBcc: all@example.com'
    const evil = await w.person('evil@example.com')
    await w.ok(evil.token, 'organizations.create', { name: 'Theirs' })
    await w.db.updateTable('organization').set({ name }).where('name', '=', 'Theirs').execute()
    const acting = await w.signIn(evil)
    await w.ok(acting.token, 'organizations.members.invite', { email: 'victim@example.com' })
    const mail = (await mailedTo('victim@example.com'))!
    assert.ok(!mail.headers.has('bcc') && !/^bcc:/im.test(mail.raw))
    assert.ok(!/evil\.example|x@/.test(mail.text.replaceAll(w.baseUrl, '')))
    assert.match(mail.text, /the organization “Win at https evil example now or mail x evil example Bcc all example com” as member on/)
  })

  await t.test('an address gets five a day; then the inviter is told to pass on the link, which works', async () => {
    let url = ''
    for (let n = 0; n < 6; n++) ({ url } = await invite('gus@example.com'))
    await w.drain(inviteByMail)
    assert.equal(server.mails.splice(0).filter(({ to }) => to[0] === 'gus@example.com').length, 5)
    assert.ok((await inbox(org.owner.token)).some(({ title, body }) => title === 'Invitation email not sent' && /gus@example/.test(body)))
    assert.equal((await w.accept((await w.person('gus@example.com')).token, url)).status, 200)
    w.clock.advance({ hours: 24 })
    const owner = await w.signIn(org.owner, org.id)
    await w.ok(owner.token, 'organizations.members.invite', { email: 'gus2@example.com' })
    assert.ok(await mailedTo('gus2@example.com'))
  })

  await t.test('a failing mail server is retried, and failures do not count', async () => {
    const owner = await w.signIn(org.owner, org.id)
    await w.ok(owner.token, 'organizations.members.invite', { email: 'hal@example.com' })
    const [{ id }] = (await w.ok(owner.token, 'organizations.invitations.list')).invitations
    server.refuse(true)
    for (let n = 0; n < 7; n++) await assert.rejects(w.runTask(inviteByMail, { invitation_id: id }))
    server.refuse(false)
    await w.runTask(inviteByMail, { invitation_id: id })
    assert.equal(server.mails.splice(0).filter(({ to }) => to[0] === 'hal@example.com').length, 1)
  })
})

// Goal: notifications are emailed as each user chose, once, and retried if the server could not accept them.
test('emailed notifications', async (t) => {
  const server = await mailServer(t)
  const w = await world(t, { smtpUrl: server.url })
  const org = await w.organization()
  const member = await w.member(org)
  await w.ok(org.owner.token, 'notifications.mark_all_read') // That the member has joined.
  await w.db.updateTable('app_user').set({ email_confirmed_at: w.clock.now() }).where('id', '=', org.owner.id).execute()
  const choose = (notification_mail: string) =>
    w.post('/auth/notifications', { notification_mail }, { authorization: `Bearer ${org.owner.token}` })
  const happen = () => w.ok(member.token, 'billing.approvals.request', { credits: 100, reason: 'Flood & fire' })
  const run = async () => {
    await w.runTask(mailNow)
    const now = server.mails.splice(0).length
    await w.runTask(digest)
    return [now, server.mails.length]
  }
  assert.deepEqual((await w.request('GET', '/auth/notifications', { headers: { authorization: `Bearer ${org.owner.token}` } })).body, {
    notification_mail: 'daily',
  })
  await happen()
  await happen()
  assert.deepEqual(await run(), [0, 1])
  const [daily] = server.mails.splice(0)
  assert.equal(daily!.headers.get('subject'), '2 notifications')
  assert.match(daily!.text, /requests approval for 100 credits\. .*Flood & fire.*\(2030-01-01 00:00 UTC\)/)
  assert.match(daily!.html, /Flood &amp; fire/)
  assert.deepEqual(await run(), [0, 0], 'once')
  await happen()
  assert.equal((await choose('instant')).status, 204)
  assert.deepEqual(await run(), [0, 0], 'what was there before is not sent after all')
  await happen()
  server.refuse(true)
  await assert.rejects(w.runTask(mailNow))
  server.refuse(false)
  assert.deepEqual(await run(), [1, 0])
  assert.equal((await choose('none')).status, 204)
  await happen()
  assert.deepEqual(await run(), [0, 0])
  assert.equal((await choose('hourly')).status, 422)
})

// Goal: without a mail server, each email is a file in the data folder that only its owner can read.
test('emails as files', async (t) => {
  const w = await world(t)
  await w.person('filed@example.com')
  await w.drain(confirmAddress)
  const [file] = readdirSync(w.mailDir)
  assert.match(file!, /\.eml$/)
  assert.equal(statSync(path.join(w.mailDir, file!)).mode & 0o777, 0o600)
  assert.match(readFileSync(path.join(w.mailDir, file!), 'utf8'), /^To: filed <filed@example\.com>/m)
})
