/** What a spend means for the organization and for the person: who pays, what is left, and both caps with this order hatched. */
import type { ReactElement } from 'react'
import { useMe, useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { audOfCredits, count } from '../../ui/format.ts'
import { Icon } from '../../ui/icons.tsx'
import { Badge, Bar, Facts } from '../../ui/kit.ts'
import { Loaded } from '../../ui/states.tsx'
import { classes } from '../../ui/classes.ts'
import styles from './total.module.css'
import ui from '../../ui/ui.module.css'

/** Who pays, before and after. */
export function Payment({ credits, when = 'reserved now, charged on delivery' }: { credits: number; when?: string }): ReactElement {
  const who = useWho()
  const status = useOp('billing.status.get', { organization_id: who.organizationId }, { staleTime: 10_000 })
  return (
    <div className={classes(styles.payment, ui.marginTop16)}>
      <Loaded query={status} rows={1}>
        {({ billing_mode, available_credits, has_default_card }) => (
          <>
            <div className={classes(ui.flexRow, ui.between, ui.gap8, ui.wrap)}>
              <span className={classes(ui.flexRow, ui.gap6)}>
                <Icon name="card" />
                <b>{{ credit: 'Credits', card: 'Card', enterprise: 'On account' }[billing_mode]}</b>
              </span>
              <Badge>
                {{ credit: when, card: 'held now, charged on delivery', enterprise: 'provisional, invoiced when delivered' }[billing_mode]}
              </Badge>
            </div>
            <div className={classes(ui.marginTop8, ui.small)}>
              {billing_mode === 'credit' && (
                <Facts
                  rows={[
                    ['Available', <span className={ui.numeric}>{count(available_credits)}</span>],
                    [
                      'After this',
                      <b className={available_credits < credits ? classes(ui.numeric, ui.danger) : ui.numeric}>
                        {available_credits < credits ? `${count(credits - available_credits)} missing` : count(available_credits - credits)}
                      </b>,
                    ],
                  ]}
                />
              )}
              {billing_mode === 'card' && (
                <Facts
                  rows={[
                    ['Held on the card', <b className={ui.numeric}>{audOfCredits(credits)}</b>],
                    ['Default card', has_default_card ? 'saved' : 'none yet; you can add one when you order'],
                  ]}
                />
              )}
              {billing_mode === 'enterprise' && (
                <Facts rows={[['Added to the account', <b className={ui.numeric}>{audOfCredits(credits)}</b>]]} />
              )}
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
      <div className={classes(ui.flexRow, ui.between, ui.small, ui.gap8)}>
        <span>{label}</span>
        <span className={isAbove ? classes(ui.numeric, ui.danger) : classes(ui.numeric, ui.soft)}>
          {count(used + add)} of {count(limit)}
        </span>
      </div>
      <div className={ui.marginTop4}>
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
    <div className={classes(ui.flexColumn, ui.gap12, ui.marginTop16)}>
      {perOrder !== null && <Cap label="Your cap per order" used={0} add={credits} limit={perOrder} />}
      {rolling !== null && <Cap label="Your cap in 30 days" used={spent} add={credits} limit={rolling} />}
    </div>
  )
}
