const button = document.getElementById("pause");
let paused = false;
button.hidden = false;
button.addEventListener("click", () => {
  paused = !paused;
  button.textContent = paused ? "Refresh again" : "Pause refresh";
});
setInterval(() => {
  if (!paused && !document.hidden && !String(getSelection())) location.reload();
}, 5000);
