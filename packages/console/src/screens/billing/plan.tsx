/** What a month costs and allows. */
import type { ReactElement } from 'react'
import { useAct, useOp } from '../../api/query.ts'
import { aud, bytes, count, dateTime } from '../../ui/format.ts'
import { Badge, Button, Card, Facts } from '../../ui/kit.ts'
import { FormProblem, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import { BillingPage } from './page.tsx'
import { classes } from '../../ui/classes.ts'
import ui from '../../ui/ui.module.css'

export function PlanPage(): ReactElement {
  const plans = useOp('billing.plans.list', {})
  const change = useAct('billing.plan.change', ['billing', 'usage', 'organizations'])
  return (
    <BillingPage name="Plan">
      <FormProblem error={change.error} />
      {!plans.data && <Skeleton />}
      <div className={classes(ui.grid, ui.threeColumns)}>
        {(plans.data?.plans ?? []).map((plan) => {
          const isCurrent = plan.id === plans.data?.current_plan_id
          return (
            <Card key={plan.id} title={plan.name} aside={isCurrent && <Badge tone="acc">current</Badge>}>
              <b className={ui.largePrice}>{plan.monthly_aud === 0 ? 'Free' : `${aud(plan.monthly_aud)} a month`}</b>
              <div className={ui.marginTop12}>
                <Facts
                  rows={[
                    ['Storage', bytes(plan.storage_bytes)],
                    ['Downloads per day', bytes(plan.egress_bytes)],
                    ['Clip jobs per month', count(plan.compute_jobs)],
                    ['Other jobs per month', count(plan.processing_jobs)],
                    [
                      'Items expire',
                      plan.retention.expired_after_days === null ? 'never' : `after ${plan.retention.expired_after_days} days`,
                    ],
                  ]}
                />
              </div>
              {!isCurrent && (
                <Button
                  wide
                  className={ui.marginTop12}
                  busy={change.isPending}
                  onClick={() =>
                    change.mutate(
                      { plan_id: plan.id as 'team' },
                      { onSuccess: ({ effective_at }) => void toast(`${plan.name} from ${dateTime(effective_at)}`) },
                    )
                  }
                >
                  Change to {plan.name}
                </Button>
              )}
            </Card>
          )
        })}
      </div>
    </BillingPage>
  )
}
