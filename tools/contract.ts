/** How much of the contract is built, and what is missing. */
import { COUNTED_STATUSES, TABLE, type TableRow } from '#contract/table.ts'
import { operations } from '#registry.ts'

const all = [...TABLE.values()]
const count = (rows: readonly TableRow[]) => `${rows.filter((row) => operations.has(row.id)).length} of ${rows.length}`
const counted = all.filter((row) => COUNTED_STATUSES.includes(row.status))

console.log(`${'domain'.padEnd(22)}built of stated   missing`)
for (const domain of [...new Set(counted.map((row) => row.domain))].toSorted()) {
  const rows = counted.filter((row) => row.domain === domain)
  const missing = rows.filter((row) => !operations.has(row.id)).map((row) => row.id.slice(domain.length + 1))
  console.log(`${domain.padEnd(22)}${count(rows).padEnd(18)}${missing.join(' ')}`)
}
console.log(`\nours      ${count(all.filter((row) => row.status === 'ours'))}`)
console.log(`operator  ${count(all.filter((row) => row.status === 'operator'))}`)
console.log(`contract  ${count(counted)} operations implemented`)
