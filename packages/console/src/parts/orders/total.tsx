/** What a spend means for the organization and for the person: who pays, what is left, and both caps with this order hatched. */
import type { ReactElement } from 'react'
import { useMe, useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { audOfCredits, count } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Bar, Facts } from '../../ui/kit.tsx'
import { Loaded } from '../../ui/states.tsx'

/** Who pays, before and after. */
export function Payment({ credits, when = 'reserved now, charged on delivery' }: { credits: number; when?: string }): ReactElement {
  const who = useWho()
  const status = useOp('billing.status.get', { organization_id: who.organizationId }, { staleTime: 10_000 })
  return (
    <div className="pay mt16">
      <Loaded query={status} rows={1}>
        {({ billing_mode, available_credits, has_default_card }) => (
          <>
            <div className="row between g8 wrap">
              <span className="row g6">
                <Icon name="card" />
                <b>{{ credit: 'Credits', card: 'Card', enterprise: 'On account' }[billing_mode]}</b>
              </span>
              <Badge>
                {{ credit: when, card: 'held now, charged on delivery', enterprise: 'provisional, invoiced when delivered' }[billing_mode]}
              </Badge>
            </div>
            <div className="mt8 sm">
              {billing_mode === 'credit' && (
                <Facts
                  rows={[
                    ['Available', <span className="num">{count(available_credits)}</span>],
                    [
                      'After this',
                      <b className={available_credits < credits ? 'num bad' : 'num'}>
                        {available_credits < credits ? `${count(credits - available_credits)} missing` : count(available_credits - credits)}
                      </b>,
                    ],
                  ]}
                />
              )}
              {billing_mode === 'card' && (
                <Facts
                  rows={[
                    ['Held on the card', <b className="num">{audOfCredits(credits)}</b>],
                    ['Default card', has_default_card ? 'there is one' : 'none yet; you are asked for one'],
                  ]}
                />
              )}
              {billing_mode === 'enterprise' && <Facts rows={[['Added to the account', <b className="num">{audOfCredits(credits)}</b>]]} />}
            </div>
          </>
        )}
      </Loaded>
    </div>
  )
}

function Cap({ label, used, add, limit }: { label: string; used: number; add: number; limit: number }): ReactElement {
  const isAbove = used + add > limit
  return (
    <div>
      <div className="row between sm g8">
        <span>{label}</span>
        <span className={isAbove ? 'num bad' : 'num soft'}>
          {count(used + add)} of {count(limit)}
        </span>
      </div>
      <div className="mt4">
        <Bar label={label} share={limit === 0 ? 1 : used / limit} hatched={limit === 0 ? 0 : add / limit} />
      </div>
    </div>
  )
}

/** The caller's own caps. */
export function useCaps() {
  const who = useWho()
  const me = useMe()
  const own = me.data?.organizations.find(({ id }) => id === who.organizationId)
  return {
    perOrder: own?.per_order_limit_credits ?? null,
    rolling: own?.spend_limit_credits ?? null,
    spent: own?.spent_30d_credits ?? 0,
  }
}

export const isAboveCaps = ({ perOrder, rolling, spent }: ReturnType<typeof useCaps>, credits: number): boolean =>
  (perOrder !== null && credits > perOrder) || (rolling !== null && spent + credits > rolling)

export function Caps({ credits }: { credits: number }): ReactElement | null {
  const { perOrder, rolling, spent } = useCaps()
  if (perOrder === null && rolling === null) return null
  return (
    <div className="col g12 mt16">
      {perOrder !== null && <Cap label="Your cap for one order" used={0} add={credits} limit={perOrder} />}
      {rolling !== null && <Cap label="Your cap in 30 days" used={spent} add={credits} limit={rolling} />}
    </div>
  )
}
