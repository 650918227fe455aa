/** The rule of the organization that members have two factors. Owners set it; admins see it. */
import type { ReactElement } from 'react'
import { Link } from '@tanstack/react-router'
import { useAct, useMe, useOp } from '../../api/query.ts'
import { useWho } from '../../state/who.ts'
import { classes } from '../../ui/classes.ts'
import { plural } from '../../ui/format.ts'
import { Card, Toggle } from '../../ui/kit.ts'
import { FormProblem, Loaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

export function TwoFactorRule(): ReactElement {
  const who = useWho()
  const me = useMe()
  const rule = useOp('organizations.two_factors.get', {})
  const set = useAct('organizations.two_factors.set', ['organizations.', '/auth/'])
  const canSet = who.role === 'owner' && (me.data?.has_two_factors || rule.data?.is_required)
  return (
    <Card
      title="Require two-factor sign-in"
      aside={
        <Toggle
          label="Require two-factor sign-in"
          on={rule.data?.is_required ?? false}
          disabled={!canSet || set.isPending}
          onChange={(is_required) =>
            set.mutate({ is_required }, { onSuccess: () => void toast(is_required ? 'Two-factor sign-in is required' : 'Rule lifted') })
          }
        />
      }
    >
      <Loaded query={rule} rows={1}>
        {({ members, members_without }) => (
          <p className={classes(ui.soft, ui.small)}>
            {members_without === 0
              ? `All ${plural(members, 'member')} have two-factor sign-in.`
              : `${members_without} of ${plural(members, 'member')} without a second factor: ` +
                'with the rule, they can only set one up. API keys keep working.'}
          </p>
        )}
      </Loaded>
      {who.role === 'owner' && me.data?.has_two_factors === false && (
        <p className={classes(ui.small, ui.marginTop8)}>
          <Link to="/account">Set up your own second factor</Link> before you require it.
        </p>
      )}
      <FormProblem error={set.error} />
    </Card>
  )
}
