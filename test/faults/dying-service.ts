/** The service, made to die by kill -9 at the one point of an upload that FAULT_AT names. */
import { FileStore } from '#adapters/storage/files.ts'
import type { AnyTask, TaskContext } from '#task.ts'
import { run } from '#start/run.ts'
import type { AnyOperation } from '#operation.ts'
import { operations, tasks } from '#registry.ts'

const point = process.env['FAULT_AT'] ?? ''
/** How far a conversion is when it dies. */
const PROGRESS = 0.3

function passing(name: string): void {
  if (name === point) process.kill(process.pid, 'SIGKILL')
}

const put = FileStore.prototype.put
FileStore.prototype.put = async function (at, body, options) {
  const name = at.key.startsWith('uploads/') ? 'put' : 'store'
  passing(`${name} begins`)
  const result = await put.call(this, at, body, options)
  passing(`${name} ends`)
  return result
}

function dyingOperation(op: AnyOperation): AnyOperation {
  if (op.id !== 'uploads.complete') return op
  return {
    ...op,
    async prepare(...input) {
      passing('complete begins')
      const prepared = await op.prepare!(...input)
      passing('complete is prepared')
      return prepared
    },
    async execute(...input) {
      const answer = await op.execute(...input)
      passing('complete is about to commit')
      return answer
    },
  }
}

function dyingTask(job: AnyTask): AnyTask {
  const name = job.name.split('.')[1]!
  return {
    ...job,
    async run(context, data) {
      passing(`${name} begins`)
      await job.run(name === 'convert' ? dyingContext(context) : context, data)
      passing(`${name} ends`)
    },
  }
}

function dyingContext(context: TaskContext): TaskContext {
  return {
    ...context,
    raster: {
      ...context.raster,
      convert: (source, request) =>
        context.raster.convert(source, {
          ...request,
          onProgress: (fraction) => {
            if (fraction > PROGRESS) passing('convert is under way')
            request.onProgress?.(fraction)
          },
        }),
    },
    async change(organizationId, work) {
      const result = await context.change(organizationId, async (change) => {
        const result = await work(change)
        passing('convert is about to commit')
        return result
      })
      passing('convert has committed')
      return result
    },
  }
}

await run({ operations: new Map([...operations].map(([id, op]) => [id, dyingOperation(op)])), tasks: tasks.map(dyingTask) })
