/// Script of a page: a click on a column's name sorts its table. Pages are complete without it.
enum PageScript {
    /// The only script that a page's policy allows: its SHA-256, base64. A test in a browser fails if it differs.
    static let hash = "sha256-oNZbJ0lug+i1StomWgnPoXPuEfqaxvvK3s3+9YAeZys="

    // Parses formatted numbers with their units; `<0.1` is a little less than 0.1.
    static let text = #"""
        (()=>{const unit={B:1,KiB:1024,MiB:2**20,GiB:2**30,TiB:2**40,PiB:2**50,EiB:2**60,ms:1,s:1e3,min:6e4,h:36e5};
        const number=text=>{let sum=0,count=0;
        for(const part of text.matchAll(/(-?[0-9][0-9,]*(?:[.][0-9]+)?)(?: ?([KMGTPE]?i?B|ms|min|s|h)(?![a-zA-Z]))?/g)){
        sum+=parseFloat(part[1].replace(/,/g,''))*(unit[part[2]]||1);count++}
        return count?sum+(text[0]==='<'?-.01:text[0]==='>'?.01:0):-Infinity};
        const cell=(row,column)=>row.cells[column]?row.cells[column].textContent:'';
        for(const table of document.querySelectorAll('table')){const body=table.tBodies[0];
        [...table.tHead.rows[0].cells].forEach((head,column)=>{const button=document.createElement('button');
        button.type='button';button.textContent=head.textContent;head.replaceChildren(button);
        button.addEventListener('click',()=>{const rising=head.getAttribute('aria-sort')==='descending';
        for(const other of table.tHead.rows[0].cells)other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort',rising?'ascending':'descending');
        const names=head.classList.contains('name');
        const rows=[...body.rows].sort((a,b)=>{const x=cell(a,column),y=cell(b,column);
        return names?x.localeCompare(y,'en',{numeric:true}):number(x)-number(y)});
        body.append(...(rising?rows:rows.reverse()))})})}})();
        """#
}
