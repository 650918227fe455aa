/** Databases for tests: one migrated template for a run, a copy of it for each world. */
import { randomBytes } from 'node:crypto'
import pg from 'pg'
import { migrate } from '#db/migrate.ts'
import { openDatabase } from '#db/open.ts'
import { openQueue } from '#db/queue.ts'
import { declareTasks } from '#background/tasks.ts'
import { tasks } from '#registry.ts'

export async function createTemplate(adminUrl: string): Promise<string> {
  const name = `gt_template_${randomBytes(6).toString('hex')}`
  await admin(adminUrl, `create database ${name}`)
  const database = openDatabase(urlOf(adminUrl, name))
  await migrate(database.db)
  const queue = await openQueue(database.db, { worker: false, onError: () => {} })
  await declareTasks(queue, tasks)
  await queue.stop()
  await database.close()
  return name
}

export async function createDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const adminUrl = process.env['TEST_ADMIN_URL']
  const template = process.env['TEST_TEMPLATE']
  if (!adminUrl || !template) throw new Error('Run tests with `npm test -- <file>`: it starts the database that they need.')
  const name = `gt_test_${randomBytes(8).toString('hex')}`
  await admin(adminUrl, `create database ${name} template ${template} strategy file_copy`)
  return { url: urlOf(adminUrl, name), drop: () => dropDatabase(adminUrl, name) }
}

/** An empty database, for tests that watch a service make its own. */
export async function createEmptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const adminUrl = process.env['TEST_ADMIN_URL']!
  const name = `gt_empty_${randomBytes(8).toString('hex')}`
  await admin(adminUrl, `create database ${name}`)
  return { url: urlOf(adminUrl, name), drop: () => dropDatabase(adminUrl, name) }
}

export async function dropDatabase(adminUrl: string, name: string): Promise<void> {
  await admin(adminUrl, `drop database if exists ${name} with (force)`)
}

async function admin(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}

function urlOf(adminUrl: string, database: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return url.href
}
