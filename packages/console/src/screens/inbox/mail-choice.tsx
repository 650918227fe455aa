/** Whether what comes to the inbox is mailed too. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { route } from '../../api/client.ts'
import { Card, Choice } from '../../ui/kit.ts'
import { FormProblem } from '../../ui/states.tsx'
import { toast } from '../../ui/toasts.tsx'
import ui from '../../ui/ui.module.css'

const PATH = '/auth/notifications'
type Mail = 'none' | 'instant' | 'daily'
const MAILS: readonly { value: Mail; text: string }[] = [
  { value: 'none', text: 'Off' },
  { value: 'instant', text: 'Immediately' },
  { value: 'daily', text: 'Once a day' },
]

export function MailChoice(): ReactElement | null {
  const client = useQueryClient()
  const choice = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => route<{ notification_mail: Mail }>('GET', PATH, undefined, { signal }),
  })
  const choose = useMutation({
    mutationFn: (notification_mail: Mail) => route<unknown>('POST', PATH, { notification_mail }),
    onSuccess: () => {
      toast('Email notifications updated')
      return client.invalidateQueries({ queryKey: [PATH] })
    },
  })
  if (!choice.data) return null
  return (
    <Card className={ui.marginTop16}>
      <Choice
        label="Email notifications"
        help="Applies to new notifications."
        value={choice.data.notification_mail}
        disabled={choose.isPending}
        onChange={(event) => choose.mutate(event.target.value as Mail)}
        options={MAILS}
      />
      <FormProblem error={choose.error} />
    </Card>
  )
}
