import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { startEmbedded } from '#db/embedded.ts'

/** A folder that the database's user could reach, with a file in it that nobody but its owner should ever change. */
function scene(t: TestContext) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'groundtrack-links-'))
  fs.chmodSync(root, 0o755)
  t.after(() => fs.rmSync(root, { recursive: true, force: true }))
  const treasure = path.join(root, 'treasure')
  fs.mkdirSync(treasure)
  const victim = path.join(treasure, 'victim')
  fs.writeFileSync(victim, 'precious')
  const assertUntouched = (what: string) => {
    assert.deepEqual(fs.readdirSync(treasure), ['victim'], what)
    assert.equal(fs.readFileSync(victim, 'utf8'), 'precious', what)
    for (const each of [treasure, victim]) assert.equal(fs.statSync(each).uid, process.getuid!(), `${what}: owner`)
  }
  return { root, treasure, victim, dataDir: path.join(root, 'data'), assertUntouched }
}

// Goal: a user who can write the embedded database's files cannot make the service, which may run as root, use other files or processes.
test('row 33: planted links', async (t) => {
  const { root, treasure, victim, dataDir, assertUntouched } = scene(t)
  const first = await startEmbedded(dataDir)
  const { dir } = first
  await first.leave()
  /** Starts with something planted; whether that works or is refused, it is taken away again. */
  const startWith = async (planted: string, target: string): Promise<'started' | 'refused'> => {
    const saved = `${planted}.saved`
    if (fs.existsSync(planted)) fs.renameSync(planted, saved)
    fs.symlinkSync(target, planted)
    try {
      const server = await startEmbedded(dataDir)
      await server.leave()
      return 'started'
    } catch {
      return 'refused'
    } finally {
      fs.rmSync(planted, { recursive: true, force: true })
      if (fs.existsSync(saved)) fs.renameSync(saved, planted)
    }
  }

  await t.test('a log file that is a link is not followed', async () => {
    assert.equal(await startWith(path.join(dir, 'server.log'), victim), 'refused')
    assertUntouched('server.log')
  })

  await t.test('links in place of the users folder and its files are not followed', async () => {
    assert.equal(await startWith(path.join(`${dir}.users`, String(process.pid)), victim), 'started')
    assertUntouched('the file of this process')
    assert.equal(await startWith(`${dir}.users`, treasure), 'refused')
    assertUntouched('the folder')
  })

  await t.test('a note that names another location is rejected', async () => {
    const other = path.join(root, 'other')
    fs.mkdirSync(other)
    fs.writeFileSync(path.join(other, 'postgres.location'), `${root}/data\n`)
    await assert.rejects(startEmbedded(other), /never uses/)
  })

  await t.test('root only signals processes of the database user', { skip: process.getuid!() !== 0 && 'only root can tell' }, async () => {
    const stranger = spawn('sh', ['-c', 'sleep 60 & wait', dir, dir], { stdio: 'ignore' })
    t.after(() => stranger.kill())
    const pidFile = path.join(dir, 'postmaster.pid')
    fs.writeFileSync(pidFile, `${stranger.pid}\n${dir}\n0\n0\n${treasure}\n\n0\nready\n`)
    const server = await startEmbedded(dataDir)
    assert.notEqual(server.pid, stranger.pid)
    assert.notEqual(server.socketDir, treasure)
    await server.leave()
    assert.equal(stranger.exitCode ?? stranger.signalCode, null, 'it lives')
  })
})
