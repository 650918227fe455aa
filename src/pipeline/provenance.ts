import { problem } from '#core/problem.ts'
import type { Tx } from '#db/tables.ts'
import * as lineage from '#model/platform/lineage.ts'
import type { Lineage, Produces } from '#effects.ts'
import type { Contract } from '#operation.ts'

type Declared = Pick<Contract, 'produces'> & { id: string }

export interface Provenance {
  lineage: Lineage
  /** `kind id` of every artifact that was created, for the audit. */
  artifacts(): string[]
  /** Stage 8: fails closed, then writes. */
  seal(tx: Tx, call: { organizationId: string | null; invocationId: string; now: Date }): Promise<void>
}

interface Pattern {
  kind: string
  relation: string
  origins: readonly string[]
}

/** Stage 5. `execute` can only record what the operation declares, in kind, relation and origin. */
export function openProvenance(op: Declared): Provenance {
  const patterns = (op.produces ?? []).map(parse)
  const records: lineage.Recorded[] = []
  let producedNothing = false
  return {
    lineage: {
      record(kind, id, relation, origin, projectId) {
        const declared = patterns.some(
          (pattern) =>
            pattern.kind === kind &&
            pattern.relation === relation &&
            (origin ? pattern.origins.includes(origin.kind) : pattern.origins.length === 0),
        )
        if (!declared) throw broken(op, `recorded an undeclared ${kind}:${relation}${origin ? `>${origin.kind}` : ''}`)
        records.push({
          entity: { type: kind, id },
          relation,
          origin: origin ? { type: origin.kind, id: origin.id } : null,
          ...(projectId ? { projectId } : {}),
        })
      },
      nothingProduced() {
        producedNothing = true
      },
    },
    artifacts: () => [...new Set(records.map(({ entity }) => `${entity.type} ${entity.id}`))],
    async seal(tx, { organizationId, invocationId, now }) {
      if (patterns.length > 0 && !producedNothing && records.length === 0) throw broken(op, 'recorded nothing')
      if (records.length === 0) return
      if (!organizationId) throw broken(op, 'made an artifact that belongs to no organization')
      await lineage.write(tx, organizationId, invocationId, records, now)
    },
  }
}

function parse(produces: Produces): Pattern {
  const [artifact, origins] = produces.split('>') as [string, string | undefined]
  const [kind, relation] = artifact.split(':') as [string, string]
  return { kind, relation, origins: origins?.split('|') ?? [] }
}

function broken(op: Declared, what: string) {
  const error = problem('provenance-error', `The lineage of operation '${op.id}' could not be recorded, so the operation was undone`)
  error.cause = `${op.id} ${what}` // For the log; the caller gets a fixed text.
  return error
}
