// Runs before the first paint, so that nobody is dazzled: a file of its own, because the policy allows no inline code.
;(function () {
  var kept = null
  try {
    kept = localStorage.getItem('gt-theme')
  } catch {}
  var dark = kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
  document.documentElement.dataset.mantineColorScheme = dark ? 'dark' : 'light'
})()
