// Buttons that copy the text of another element.

/** Connect every button that names what it copies. */
export function copies() {
  for (const button of document.querySelectorAll("[data-copies]")) {
    const title = button.textContent;
    button.addEventListener("click", async () => {
      const source = document.getElementById(button.dataset.copies);
      try {
        await navigator.clipboard.writeText(source.textContent);
        button.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(source);
        button.textContent = "Selected: copy it by keyboard";
      }
      setTimeout(() => (button.textContent = title), 1600);
    });
  }
}
